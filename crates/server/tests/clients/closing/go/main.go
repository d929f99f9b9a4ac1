// Two transactions at the same time, then the driver's own way of closing: closing KIND.
package main

import (
	"context"
	"database/sql"
	"os"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
)

const (
	read  = "SELECT n FROM t WHERE id = 1"
	write = "UPDATE t SET n = n + 1 WHERE id = 1"
)

var setup = []string{"CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)", "INSERT INTO t VALUES (1, 0)"}

func main() {
	url := os.Getenv("DATABASE_URL")
	switch os.Args[1] {
	case "pgx_pool":
		pgxPool(url)
	case "lib_pq":
		databaseSQL("postgres", url+"?sslmode=disable")
	case "pgx_stdlib":
		databaseSQL("pgx", url)
	default:
		panic("no such way of closing")
	}
}

func pgxPool(url string) {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	must(err)
	for _, statement := range setup {
		_, err := pool.Exec(ctx, statement)
		must(err)
	}
	twice(func() {
		tx, err := pool.Begin(ctx)
		must(err)
		var n int
		must(tx.QueryRow(ctx, read).Scan(&n))
		_, err = tx.Exec(ctx, write)
		must(err)
		must(tx.Commit(ctx))
	})
	pool.Close()
}

func databaseSQL(driver, url string) {
	db, err := sql.Open(driver, url)
	must(err)
	for _, statement := range setup {
		_, err := db.Exec(statement)
		must(err)
	}
	twice(func() {
		tx, err := db.Begin()
		must(err)
		var n int
		must(tx.QueryRow(read).Scan(&n))
		_, err = tx.Exec(write)
		must(err)
		must(tx.Commit())
	})
	must(db.Close())
}

func twice(work func()) {
	var group sync.WaitGroup
	for range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			work()
		}()
	}
	group.Wait()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
