"""Report what newly stands out by the firm's rules, what still does, and what ended: `billframes watch`.

`names` refuses unknown figures and keys when the settings are read, `look` finds what holds on the data of a mirror,
and `state` keeps what was reported. Rules and sentences are of the kind of the report's (`billframes.report.rules`).

**One report, also after a kill.** A watch first writes its whole report to the state, then prints it, and then marks it
as printed. If it is killed before that mark, the next watch prints the same report with its number again, marked
`again`, and compares with it. So nothing is forgotten, and nothing is new in two reports. What nobody can know is
whether a report was read whole just before the kill: its number tells.
"""
