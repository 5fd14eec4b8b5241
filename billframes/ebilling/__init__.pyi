from billframes.ebilling.check import ledes_check as ledes_check
from billframes.ebilling.profile import LedesProfile as LedesProfile
from billframes.ebilling.reading import ledes_format as ledes_format, read_ledes as read_ledes
from billframes.ebilling.write_ledes_file import LedesFile as LedesFile, ledes as ledes
