from billframes.guidelines.check import Guidelines as Guidelines
from billframes.guidelines.file import GuidelineFile as GuidelineFile
