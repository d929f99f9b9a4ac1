package main

import (
	"database/sql"
	"fmt"
)

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
