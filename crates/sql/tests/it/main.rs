//! SQL text in, answers out, through a connection.

mod explore;
mod expressions;
mod plpgsql;
mod queries;
