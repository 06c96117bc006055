"""The audit log, whose rows are only added: triggers refuse all but retention and forgetting.

A row may be deleted once a row of the deed "pruned" names a later day, and changed only by putting
a pseudonym in the place of a person and taking the address away.
"""

import secrets

import sqlalchemy as sa
from alembic import op

from bot.storage.tables import UtcDateTime

revision = "0018"
down_revision = "0017"

_UNCHANGED = " AND ".join(
    f"new.{name} = old.{name}"
    for name in ("id", "at", "platform", "workspace", "deed", "kind", "object", "place", "outcome")
)
_FORGETS = f"(new.person LIKE 'forgotten:%' AND new.address = '' AND {_UNCHANGED})"
_PRUNED = "(SELECT object FROM audit WHERE deed = 'pruned' ORDER BY at DESC LIMIT 1)"

_SQLITE = (
    "CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit "
    f"WHEN old.at >= coalesce({_PRUNED}, '') "
    "BEGIN SELECT RAISE(ABORT, 'rows of the audit log are not deleted'); END",
    f"CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit WHEN NOT {_FORGETS} "
    "BEGIN SELECT RAISE(ABORT, 'rows of the audit log are not changed'); END",
)

_POSTGRES = (
    f"""
CREATE FUNCTION footnote_keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NOT {_FORGETS} THEN
            RAISE EXCEPTION 'rows of the audit log are not changed';
        END IF;
        RETURN NEW;
    END IF;
    IF TG_OP = 'TRUNCATE' OR OLD.at >= coalesce(
        CAST({_PRUNED} AS date)::timestamp AT TIME ZONE 'UTC', '-infinity'
    ) THEN
        RAISE EXCEPTION 'rows of the audit log are not deleted';
    END IF;
    RETURN OLD;
END;
$$
""",
    "CREATE TRIGGER audit_is_kept BEFORE DELETE OR UPDATE ON audit "
    "FOR EACH ROW EXECUTE FUNCTION footnote_keep_audit()",
    "CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit "
    "FOR EACH STATEMENT EXECUTE FUNCTION footnote_keep_audit()",
)


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(timezone=True), nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in (
                "platform",
                "workspace",
                "person",
                "address",
                "deed",
                "kind",
                "object",
                "place",
                "outcome",
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_at"), "audit", ["at"])
    op.create_index(op.f("ix_audit_deed_at"), "audit", ["deed", "at"])
    op.create_index(op.f("ix_audit_platform_person"), "audit", ["platform", "person"])
    keys = op.create_table(
        "audit_key",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_key")),
    )
    op.execute(sa.insert(keys).values(id=1, key=secrets.token_hex(32)))
    on_postgres = op.get_bind().dialect.name == "postgresql"
    for statement in _POSTGRES if on_postgres else _SQLITE:
        op.get_bind().exec_driver_sql(statement, execution_options={"no_parameters": True})
