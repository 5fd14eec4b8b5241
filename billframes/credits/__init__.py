"""Credits: which fees of a period are whose, by the firm's rule, and what another rule would change.

A rule (`billframes.config.credits`) gives shares of the fees to the firm, to the originators of a matter and to its
responsible lawyer; the rest is for the work. `fees` lists the fees in cents by matter, person and day, `rules` finds
the matters and people that a rule names, and `statement` divides the fees; `calculation` does this for a book, and
`page` and `command` write it.

The fees are those of `contribution`, or with payments, those of `fees_collected`. Work is credited as it is billed. A
fixed fee is credited to those whose time it covers, by the value of this time if all of it has one, else by hours; a
fee without time is the responsible lawyer's. What has nobody is "No one".

All is in cents. An invoice's or a payment's cents are divided first, and those of a matter are then divided by the
rule, each time by the largest remainder. So credits add up to the fees of each matter, and of all.
"""
