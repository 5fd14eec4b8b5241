from billframes.bulk.plan import Outcomes as Outcomes, Plan as Plan
from billframes.bulk.resume import resume as resume
from billframes.loading.request_bodies import set_fields as set_fields
