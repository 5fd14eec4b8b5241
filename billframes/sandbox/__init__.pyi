from billframes.sandbox.earlier_months import replay as replay
from billframes.sandbox.fault_injection import Trouble as Trouble
from billframes.sandbox.server import Sandbox as Sandbox
from billframes.sandbox.throttle import Throttle as Throttle
