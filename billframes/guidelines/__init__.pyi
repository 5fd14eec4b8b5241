from billframes.guidelines.check import guideline_check as guideline_check
from billframes.guidelines.file import Guidelines as Guidelines
from billframes.guidelines.summary import guideline_summary as guideline_summary
from billframes.guidelines.words import guideline_words as guideline_words
