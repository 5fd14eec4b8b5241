"""The part of the page that answers questions: "Show realization by matter, only Granite Mutual, for twelve months".

The sums of `cube` stand in the page, compressed. The browser filters, adds up and divides: `answer.js` has the pure
functions, `question.js` the questions in the address, `page.js` what people see. The page needs no server.
"""
