package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// reserve: two departments share a budget; what each of them plans is a row of its own (pgx, REPEATABLE READ, transactions
// that are refused are tried again).
func reserve(url string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, sql := range []string{
		"CREATE TABLE plan (department text PRIMARY KEY, amount int NOT NULL)",
		"INSERT INTO plan VALUES ('east', 40), ('west', 40)",
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	raise := func(department string) func() error {
		return func() error {
			return retried(ctx, pool, func(tx pgx.Tx) error { return plan(ctx, tx, department, 20) })
		}
	}
	if err := atOnce(raise("east"), raise("west")); err != nil {
		return err
	}
	var total int
	if err := pool.QueryRow(ctx, "SELECT sum(amount) FROM plan").Scan(&total); err != nil {
		return err
	}
	if total > 100 {
		return fmt.Errorf("the budget is 100, planned are %d", total)
	}
	return nil
}

func plan(ctx context.Context, tx pgx.Tx, department string, amount int) error {
	if variant == "wrong" { // its own row only
		if _, err := tx.Exec(ctx, "SELECT amount FROM plan WHERE department = $1 FOR UPDATE", department); err != nil {
			return err
		}
	}
	rows, err := tx.Query(ctx, "SELECT amount FROM plan")
	if err != nil {
		return err
	}
	amounts, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return err
	}
	total := amount
	for _, one := range amounts {
		total += one
	}
	if total > 100 {
		return nil
	}
	_, err = tx.Exec(ctx, "UPDATE plan SET amount = amount + $1 WHERE department = $2", amount, department)
	return err
}

// retried runs a transaction until it is not refused because of others.
func retried(ctx context.Context, pool *pgxpool.Pool, work func(pgx.Tx) error) error {
	level := pgx.RepeatableRead
	if variant == "right" {
		level = pgx.Serializable
	}
	for {
		err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: level}, work)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && (refused.Code == "40001" || refused.Code == "40P01") {
			continue
		}
		return err
	}
}
