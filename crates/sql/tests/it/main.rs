//! SQL text in, answers out, through a connection.

mod bodies_and_levels;
mod explore;
mod expressions;
mod plpgsql;
mod queries;
