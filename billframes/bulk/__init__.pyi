from billframes._session import resume as resume
from billframes.bulk.plan import Outcomes as Outcomes, Plan as Plan
from billframes.loading.request_bodies import merge as merge
