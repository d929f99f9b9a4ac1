//! SQL text in, answers out, through a connection.

mod expressions;
mod plpgsql;
mod queries;
