// Services in Go: `services NAME VARIANT`; some with database/sql, some with pgx.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"sync"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
)

var variant = "buggy"

func main() {
	services := map[string]func(url string) error{
		"points": withPq(points), "oncall": withPq(oncall), "stock": withStdlib(stock), "queue": queue, "reserve": reserve,
	}
	if len(os.Args) > 2 {
		variant = os.Args[2]
	}
	if err := services[os.Args[1]](os.Getenv("DATABASE_URL")); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// withPq is a service with database/sql and lib/pq.
func withPq(service func(*sql.DB) error) func(string) error {
	return func(url string) error { return opened("postgres", url+"?sslmode=disable", service) }
}

// withStdlib is a service with database/sql and pgx.
func withStdlib(service func(*sql.DB) error) func(string) error {
	return func(url string) error { return opened("pgx", url, service) }
}

func opened(driver, url string, service func(*sql.DB) error) error {
	db, err := sql.Open(driver, url)
	if err != nil {
		return err
	}
	defer db.Close()
	return service(db)
}

// together runs functions at the same time, each in a transaction, and returns the first error.
func together(db *sql.DB, works ...func(*sql.Tx) error) error {
	var bodies []func() error
	for _, work := range works {
		work := work
		bodies = append(bodies, func() error {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			if err := work(tx); err != nil {
				tx.Rollback()
				return err
			}
			return tx.Commit()
		})
	}
	return atOnce(bodies...)
}

// atOnce runs functions at the same time, and returns the first error.
func atOnce(works ...func() error) error {
	var group sync.WaitGroup
	errors := make([]error, len(works))
	for at, work := range works {
		at, work := at, work
		group.Add(1)
		go func() {
			defer group.Done()
			errors[at] = work()
		}()
	}
	group.Wait()
	for _, err := range errors {
		if err != nil {
			return err
		}
	}
	return nil
}
