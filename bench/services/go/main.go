// Services in Go: `services NAME VARIANT`, with database/sql and its pool.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"sync"

	_ "github.com/lib/pq"
)

var variant = "buggy"

func main() {
	services := map[string]func(*sql.DB) error{"points": points, "oncall": oncall}
	if len(os.Args) > 2 {
		variant = os.Args[2]
	}
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL")+"?sslmode=disable")
	if err == nil {
		err = services[os.Args[1]](db)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// together runs functions at the same time, each in a transaction, and returns the first error.
func together(db *sql.DB, works ...func(*sql.Tx) error) error {
	var group sync.WaitGroup
	errors := make([]error, len(works))
	for at, work := range works {
		at, work := at, work
		group.Add(1)
		go func() {
			defer group.Done()
			tx, err := db.Begin()
			if err != nil {
				errors[at] = err
				return
			}
			if errors[at] = work(tx); errors[at] != nil {
				tx.Rollback()
				return
			}
			errors[at] = tx.Commit()
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

// points: two rewards at the same time; the time of the last visit is saved too, which no one minds to lose.
func points(db *sql.DB) error {
	if _, err := db.Exec(`CREATE TABLE player (id int PRIMARY KEY, points int NOT NULL, visits int NOT NULL);
		INSERT INTO player VALUES (1, 0, 0)`); err != nil {
		return err
	}
	reward := func(amount int) func(*sql.Tx) error {
		return func(tx *sql.Tx) error {
			var points, visits int
			lock := map[string]string{"right": " FOR UPDATE", "wrong": " FOR KEY SHARE"}[variant]
			if err := tx.QueryRow("SELECT visits FROM player WHERE id = 1").Scan(&visits); err != nil {
				return err
			}
			if err := tx.QueryRow("SELECT points FROM player WHERE id = 1" + lock).Scan(&points); err != nil {
				return err
			}
			_, err := tx.Exec("UPDATE player SET points = $1, visits = $2 WHERE id = 1", points+amount, visits+1)
			return err
		}
	}
	if err := together(db, reward(10), reward(20)); err != nil {
		return err
	}
	var points int
	if err := db.QueryRow("SELECT points FROM player WHERE id = 1").Scan(&points); err != nil {
		return err
	}
	if points != 30 {
		return fmt.Errorf("10 and 20 points: %d", points)
	}
	return nil
}

// oncall: one doctor has to stay.
func oncall(db *sql.DB) error {
	if _, err := db.Exec(`CREATE TABLE doctor (name text PRIMARY KEY, on_call boolean NOT NULL);
		INSERT INTO doctor VALUES ('ann', true), ('bob', true)`); err != nil {
		return err
	}
	leave := func(name string) func(*sql.Tx) error {
		return func(tx *sql.Tx) error {
			switch variant {
			case "right":
				if _, err := tx.Exec("SELECT name FROM doctor WHERE on_call ORDER BY name FOR UPDATE"); err != nil {
					return err
				}
			case "wrong": // the own row only
				if _, err := tx.Exec("SELECT name FROM doctor WHERE name = $1 FOR UPDATE", name); err != nil {
					return err
				}
			}
			var count int
			if err := tx.QueryRow("SELECT count(*) FROM doctor WHERE on_call").Scan(&count); err != nil {
				return err
			}
			if count < 2 {
				return nil
			}
			_, err := tx.Exec("UPDATE doctor SET on_call = false WHERE name = $1", name)
			return err
		}
	}
	if err := together(db, leave("ann"), leave("bob")); err != nil {
		return err
	}
	var count int
	if err := db.QueryRow("SELECT count(*) FROM doctor WHERE on_call").Scan(&count); err != nil {
		return err
	}
	if count < 1 {
		return fmt.Errorf("no doctor is on call")
	}
	return nil
}
