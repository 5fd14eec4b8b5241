-- A firm small enough to check by hand. {c1} stands for the UUID of client 1, and so on:
-- b users, c clients, a matters, e time entries, f fixed fees, d expenses, 1 invoices, 2 practice areas, 3 options.

INSERT INTO user VALUES
 ('{b1}', 'Ada', 'Oak', 'principal', 'ada@firm.example', 'AO', 4000000, '2024-01-01T00:00:00.000000Z', '2024-01-01T00:00:00.000000Z'),
 ('{b2}', 'Ben', 'Pine', 'attorney', 'ben@firm.example', NULL, 2500000, '2024-01-01T00:00:00.000000Z', '2024-01-01T00:00:00.000000Z'),
 ('{b3}', 'Cleo', 'Adair', 'paralegal', 'Cleo@firm.example', 'CA', 1200000, '2024-01-01T00:00:00.000000Z', '2024-01-01T00:00:00.000000Z');
INSERT INTO credential VALUES
 ('sandbox-full', '{b1}', 'read.rates'), ('sandbox-norates', '{b2}', ''), ('sandbox-service', NULL, 'read.rates');

INSERT INTO practice_area VALUES ('{21}', 'Litigation', 1), ('{22}', 'Tax', 0);
INSERT INTO code_set VALUES ('uel', 'Expenses', 'Expense codes'), ('utbms', 'UTBMS', 'Task and activity codes');
INSERT INTO code VALUES
 ('task', 'L100', 'Assessment', 'utbms', NULL, 0, 1), ('task', 'L110', 'Fact investigation', 'utbms', 'L100', 1, 2),
 ('activity', 'A103', 'Draft', 'utbms', NULL, 1, 1), ('expense', 'E101', 'Copying', 'uel', NULL, 1, 1);

INSERT INTO custom_field VALUES
 ('cf-tier', 'client', 'Tier', 'enum', 1), ('cf-since', 'client', 'Since', 'date', 2),
 ('cf-score', 'matter', 'Score', 'number', 1), ('cf-urgent', 'matter', 'Urgent', 'boolean', 2),
 ('cf-bar', 'user', 'Bar number', 'text', 1);
INSERT INTO custom_field_option VALUES
 ('{31}', 'cf-tier', 'Gold', 2), ('{32}', 'cf-tier', 'Silver', 1);
INSERT INTO custom_value VALUES
 ('{c1}', 'cf-tier', NULL, '{31}'), ('{c1}', 'cf-since', '"2020-02-29"', NULL),
 ('{a1}', 'cf-score', '7.5', NULL), ('{a1}', 'cf-urgent', 'false', NULL), ('{b1}', 'cf-bar', '"NY 12"', NULL);

INSERT INTO client VALUES
 ('{c1}', 'Acme', 'C-1', '{"companyName":"Acme Inc","emailCC":"cc@acme.example","street":"1 Road\nFloor 2"}', 'old friend', '2024-01-02T00:00:00.000000Z', '2026-01-01T12:00:00.000000Z'),
 ('{c2}', 'Öl & Söhne', NULL, '{"firstName":"Jo","lastName":"Öl"}', NULL, '2024-01-03T00:00:00.000000Z', '2026-02-01T12:00:00.000000Z'),
 ('{c3}', 'Acme', '', '{"companyName":"The other Acme"}', NULL, '2024-01-04T00:00:00.000000Z', '2026-03-01T12:00:00.000000Z');

INSERT INTO matter (matter_id, name, client_id, matter_type, responsible_id, archived, reference, practice_area_id,
 opened, conflict, billing_instructions, notes, ledes_enabled, ledes_activity_required, ledes_code_sets, created_at, modified_at) VALUES
 ('{a1}', 'Lawsuit', '{c1}', 'hourly', '{b1}', 0, 'M-1', '{21}', '2024-02-01', '{"adverse":"Rival"}', 'monthly', 'n', 1, 1, '["utbms"]', '2024-02-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'),
 ('{a2}', 'Advice', '{c1}', 'fixedFee', '{b2}', 0, 'M-2', NULL, NULL, NULL, NULL, NULL, 0, 0, '[]', '2024-02-02T00:00:00.000000Z', '2026-01-02T00:00:00.000000Z'),
 ('{a3}', 'Estate', '{c2}', 'hourly', '{b2}', 1, NULL, '{22}', '2024-03-01', NULL, NULL, NULL, 0, 0, '[]', '2024-02-03T00:00:00.000000Z', '2026-01-03T00:00:00.000000Z');
INSERT INTO matter_originator VALUES ('{a1}', '{b2}', 0), ('{a1}', '{b1}', 1), ('{a3}', '{b3}', 0);

-- Sandbox time begins on 2026-10-31: 14 is due that day, 15 was due the day before.
INSERT INTO invoice VALUES
 ('{11}', '{c1}', '1001', '2026-05-01', 'final', '2026-06-01', 10000000, 10000000, '2026-05-01T00:00:00.000000Z', '2026-05-01T00:00:00.000000Z'),
 ('{12}', '{c1}', '1002', '2026-09-01', 'final', '2026-09-30', 5000000, 2500000, '2026-09-01T00:00:00.000000Z', '2026-09-01T00:00:00.000000Z'),
 ('{13}', '{c2}', '1003', '2026-10-01', 'draft', NULL, 3000000, 3000000, '2026-10-01T00:00:00.000000Z', '2026-10-01T00:00:00.000000Z'),
 ('{14}', '{c1}', '1004', '2026-10-01', 'final', '2026-10-31', 700000, 700000, '2026-10-01T00:00:00.000000Z', '2026-10-02T00:00:00.000000Z'),
 ('{15}', '{c1}', '1005', '2026-10-01', 'final', '2026-10-30', -100000, -100000, '2026-10-01T00:00:00.000000Z', '2026-10-03T00:00:00.000000Z'),
 ('{16}', '{c1}', '1006', '2026-10-05', 'approved', NULL, 900000, 900000, '2026-10-05T00:00:00.000000Z', '2026-10-05T00:00:00.000000Z'),
 ('{17}', '{c1}', '1007', '2026-07-05', 'final', '2026-08-05', 1230000, 0, '2026-07-05T00:00:00.000000Z', '2026-07-05T00:00:00.000000Z');
INSERT INTO invoice_matter VALUES
 ('{11}', '{a2}', 1), ('{11}', '{a1}', 0), ('{12}', '{a1}', 0), ('{13}', '{a3}', 0), ('{14}', '{a1}', 0), ('{15}', '{a2}', 0),
 ('{16}', '{a2}', 0), ('{17}', '{a1}', 0);

INSERT INTO fixed_fee VALUES
 ('{f1}', '{a2}', '{b2}', '2026-04-30', 'Advice in whole', 50000000, '{11}', 'A103', 'L110', '2026-04-30T00:00:00.000000Z', '2026-04-30T00:00:00.000000Z'),
 ('{f2}', '{a2}', NULL, '2026-10-10', 'Filing', 2500000, NULL, NULL, NULL, '2026-10-10T00:00:00.000000Z', '2026-10-10T00:00:00.000000Z');

INSERT INTO expense VALUES
 ('{d1}', '{a1}', '{b1}', '2026-04-01', 'Copies', 123400, '{11}', 'E101', '778', '2026-04-01T00:00:00.000000Z', '2026-04-01T00:00:00.000000Z'),
 ('{d2}', '{a3}', NULL, '2026-09-15', 'Court fee', 2000000, '{13}', NULL, NULL, '2026-09-15T00:00:00.000000Z', '2026-09-15T00:00:00.000000Z'),
 ('{d3}', '{a1}', NULL, '2026-09-15', 'A credit', -50000, NULL, NULL, NULL, '2026-09-16T00:00:00.000000Z', '2026-09-16T00:00:00.000000Z');

INSERT INTO time_entry VALUES
 ('{e1}', '{a1}', '{b1}', '2026-04-01', '09:30:00', 'Draft complaint', 12500, 'billable', 4000000, 5000000, '{11}', NULL, 'A103', 'L110', '2026-04-01T10:00:00.000000Z', '2026-04-02T10:00:00.000000Z'),
 ('{e2}', '{a1}', '{b2}', '2026-10-02', NULL, 'Call', 3000, 'billable', 2500000, 750000, NULL, NULL, NULL, NULL, '2026-10-02T10:00:00.000000Z', '2026-10-02T10:00:00.123456Z'),
 ('{e3}', '{a2}', '{b2}', '2026-10-02', NULL, 'Memo', 20000, 'fixedFee', NULL, NULL, NULL, '{f2}', NULL, NULL, '2026-10-02T09:00:00.000000Z', '2026-10-03T10:00:00.000000Z'),
 ('{e4}', '{a3}', '{b1}', '2026-09-30', NULL, 'Training', 0, 'nonBillable', NULL, NULL, NULL, NULL, NULL, NULL, '2026-10-04T10:00:00.000000Z', '2026-10-04T10:00:00.000000Z'),
 ('{e5}', '{a3}', '{b2}', '2026-10-05', NULL, 'Will', 10000, 'billable', 2500000, 2500000, '{13}', NULL, NULL, NULL, '2026-10-05T10:00:00.000000Z', '2026-10-05T10:00:00.000000Z');
