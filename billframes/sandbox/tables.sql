CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE credential (
    token TEXT PRIMARY KEY, user_id TEXT REFERENCES user, scopes TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE user (
    user_id TEXT PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, role TEXT NOT NULL,
    email TEXT NOT NULL, initials TEXT, rate INTEGER NOT NULL,
    created_at TEXT NOT NULL, modified_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE practice_area (
    practice_area_id TEXT PRIMARY KEY, label TEXT NOT NULL, is_default INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE code_set (
    code_set_id TEXT PRIMARY KEY, label TEXT NOT NULL, description TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE code (
    kind TEXT NOT NULL, code TEXT NOT NULL, label TEXT NOT NULL,
    code_set_id TEXT NOT NULL REFERENCES code_set, parent_code TEXT, selectable INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (code_set_id, kind, code)
) WITHOUT ROWID;

CREATE TABLE custom_field (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, name TEXT NOT NULL, value_type TEXT NOT NULL,
    position INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE custom_field_option (
    option_id TEXT PRIMARY KEY, custom_field_id TEXT NOT NULL REFERENCES custom_field, label TEXT NOT NULL,
    position INTEGER NOT NULL
) WITHOUT ROWID;

-- value is JSON: text, number, true/false, or a date as text; enum fields have option_id and no value.
CREATE TABLE custom_value (
    record_id TEXT NOT NULL, custom_field_id TEXT NOT NULL REFERENCES custom_field, value TEXT,
    option_id TEXT REFERENCES custom_field_option,
    PRIMARY KEY (record_id, custom_field_id)
) WITHOUT ROWID;

-- contact is a JSON object with the API's property names.
CREATE TABLE client (
    client_id TEXT PRIMARY KEY, name TEXT NOT NULL, reference TEXT, contact TEXT NOT NULL, notes TEXT,
    created_at TEXT NOT NULL, modified_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX client_name ON client (name, client_id);
CREATE INDEX client_reference ON client (reference, client_id);
CREATE INDEX client_modified ON client (modified_at);

-- conflict is a JSON object with the API's property names, or null; ledes_code_sets a JSON array.
CREATE TABLE matter (
    matter_id TEXT PRIMARY KEY, name TEXT NOT NULL, client_id TEXT NOT NULL REFERENCES client,
    matter_type TEXT NOT NULL, responsible_id TEXT NOT NULL REFERENCES user,
    archived INTEGER NOT NULL DEFAULT 0, reference TEXT, practice_area_id TEXT REFERENCES practice_area,
    opened TEXT, conflict TEXT, billing_instructions TEXT, notes TEXT, referral_sources TEXT,
    rate_group_id TEXT,
    ledes_enabled INTEGER NOT NULL DEFAULT 0, ledes_activity_required INTEGER NOT NULL DEFAULT 0,
    ledes_task_required INTEGER NOT NULL DEFAULT 0, ledes_expense_required INTEGER NOT NULL DEFAULT 0,
    ledes_code_sets TEXT NOT NULL DEFAULT '[]',
    created_at TEXT NOT NULL, modified_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX matter_client ON matter (client_id);
CREATE INDEX matter_name ON matter (name, matter_id);
CREATE INDEX matter_reference ON matter (reference, matter_id);
CREATE INDEX matter_responsible ON matter (responsible_id);
CREATE INDEX matter_practice_area ON matter (practice_area_id);
CREATE INDEX matter_modified ON matter (modified_at);

CREATE TABLE matter_originator (
    matter_id TEXT NOT NULL REFERENCES matter ON DELETE CASCADE, user_id TEXT NOT NULL REFERENCES user,
    position INTEGER NOT NULL, PRIMARY KEY (matter_id, user_id)
) WITHOUT ROWID;
CREATE INDEX matter_originator_user ON matter_originator (user_id, matter_id);

CREATE TABLE invoice (
    invoice_id TEXT PRIMARY KEY, client_id TEXT NOT NULL REFERENCES client, invoice_number TEXT NOT NULL,
    invoice_date TEXT NOT NULL, invoice_state TEXT NOT NULL, due_date TEXT,
    amount INTEGER NOT NULL, balance INTEGER NOT NULL,
    created_at TEXT NOT NULL, modified_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX invoice_by_date ON invoice (invoice_date, invoice_id);
CREATE INDEX invoice_by_client ON invoice (client_id, invoice_date);
CREATE INDEX invoice_modified ON invoice (modified_at);

-- The matters an invoice covers; position 0 is the one the API shows as matterId.
CREATE TABLE invoice_matter (
    invoice_id TEXT NOT NULL REFERENCES invoice ON DELETE CASCADE, matter_id TEXT NOT NULL REFERENCES matter,
    position INTEGER NOT NULL, PRIMARY KEY (invoice_id, matter_id)
) WITHOUT ROWID;
CREATE INDEX invoice_matter_matter ON invoice_matter (matter_id, invoice_id);

CREATE TABLE fixed_fee (
    fixed_fee_id TEXT PRIMARY KEY, matter_id TEXT NOT NULL REFERENCES matter, user_id TEXT REFERENCES user,
    date TEXT NOT NULL, description TEXT NOT NULL, amount INTEGER NOT NULL,
    invoice_id TEXT REFERENCES invoice, activity_code TEXT, task_code TEXT,
    created_at TEXT NOT NULL, modified_at TEXT NOT NULL
);
CREATE INDEX fixed_fee_date ON fixed_fee (date, fixed_fee_id);
CREATE INDEX fixed_fee_matter ON fixed_fee (matter_id, date);
CREATE INDEX fixed_fee_user ON fixed_fee (user_id, date);
CREATE INDEX fixed_fee_invoice ON fixed_fee (invoice_id);
CREATE INDEX fixed_fee_modified ON fixed_fee (modified_at);

CREATE TABLE expense (
    expense_id TEXT PRIMARY KEY, matter_id TEXT NOT NULL REFERENCES matter, user_id TEXT REFERENCES user,
    date TEXT NOT NULL, description TEXT NOT NULL, amount INTEGER NOT NULL,
    invoice_id TEXT REFERENCES invoice, expense_code TEXT, check_number TEXT,
    created_at TEXT NOT NULL, modified_at TEXT NOT NULL
);
CREATE INDEX expense_date ON expense (date, expense_id);
CREATE INDEX expense_matter ON expense (matter_id, date);
CREATE INDEX expense_user ON expense (user_id, date);
CREATE INDEX expense_invoice ON expense (invoice_id);
CREATE INDEX expense_modified ON expense (modified_at);

-- rate and amount are stored for billable entries only. The columns at the end of two indexes let lists be
-- counted without looking at the table.
CREATE TABLE time_entry (
    time_entry_id TEXT PRIMARY KEY, matter_id TEXT NOT NULL REFERENCES matter,
    user_id TEXT NOT NULL REFERENCES user, date TEXT NOT NULL, time TEXT, description TEXT NOT NULL,
    hours INTEGER NOT NULL, billing_type TEXT NOT NULL, rate INTEGER, amount INTEGER,
    invoice_id TEXT REFERENCES invoice, fixed_fee_id TEXT REFERENCES fixed_fee,
    activity_code TEXT, task_code TEXT,
    created_at TEXT NOT NULL, modified_at TEXT NOT NULL,
    billed INTEGER GENERATED ALWAYS AS (invoice_id IS NOT NULL) VIRTUAL
);
CREATE INDEX time_entry_date ON time_entry (date, time_entry_id, billing_type, billed);
CREATE INDEX time_entry_hours ON time_entry (hours, time_entry_id);
CREATE INDEX time_entry_billed ON time_entry (billed, date, time_entry_id);
CREATE INDEX time_entry_created ON time_entry (created_at, time_entry_id);
CREATE INDEX time_entry_matter ON time_entry (matter_id, date);
CREATE INDEX time_entry_user ON time_entry (user_id, date);
CREATE INDEX time_entry_invoice ON time_entry (invoice_id) WHERE invoice_id IS NOT NULL;
CREATE INDEX time_entry_fixed_fee ON time_entry (fixed_fee_id);
CREATE INDEX time_entry_billing_type ON time_entry (billing_type, date, time_entry_id, billed);
CREATE INDEX time_entry_modified ON time_entry (modified_at);
