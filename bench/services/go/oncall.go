package main

import (
	"database/sql"
	"fmt"
)

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
