"""Forward-only Alembic migrations, run when a store is opened."""
