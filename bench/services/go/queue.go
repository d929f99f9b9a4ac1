package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// queue: two workers take jobs from a queue, without a transaction around look and take (pgx, its pool).
func queue(url string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, sql := range []string{
		"CREATE TABLE job (id int PRIMARY KEY, state text NOT NULL)",
		"CREATE TABLE mail (id serial PRIMARY KEY, job int NOT NULL)",
		"INSERT INTO job VALUES (1, 'new'), (2, 'new')",
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	worker := func() error { return work(ctx, pool) }
	if err := atOnce(worker, worker); err != nil {
		return err
	}
	var mails, jobs int
	if err := pool.QueryRow(ctx, "SELECT count(*), count(DISTINCT job) FROM mail").Scan(&mails, &jobs); err != nil {
		return err
	}
	if mails != jobs {
		return fmt.Errorf("%d mails for %d jobs", mails, jobs)
	}
	return nil
}

func work(ctx context.Context, pool *pgxpool.Pool) error {
	var job int
	if variant == "right" {
		row := pool.QueryRow(ctx, `UPDATE job SET state = 'sent' WHERE id = (SELECT id FROM job WHERE state = 'new'
			ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id`)
		if err := row.Scan(&job); err != nil {
			return ignoreNoRows(err)
		}
	} else {
		row := pool.QueryRow(ctx, "SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1")
		if err := row.Scan(&job); err != nil {
			return ignoreNoRows(err)
		}
		guard := ""
		if variant == "wrong" { // nothing looks at the count
			guard = " AND state = 'new'"
		}
		if _, err := pool.Exec(ctx, "UPDATE job SET state = 'sent' WHERE id = $1"+guard, job); err != nil {
			return err
		}
	}
	_, err := pool.Exec(ctx, "INSERT INTO mail (job) VALUES ($1)", job)
	return err
}

func ignoreNoRows(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}
