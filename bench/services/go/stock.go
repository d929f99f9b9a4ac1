package main

import (
	"database/sql"
	"fmt"
)

// stock: an order takes what is there (database/sql and pgx); the item is saved with all of its columns, and its views,
// which no one minds to lose.
func stock(db *sql.DB) error {
	if _, err := db.Exec(`CREATE TABLE item (id int PRIMARY KEY, name text NOT NULL, price int NOT NULL, views int NOT NULL,
			stock int NOT NULL);
		CREATE TABLE sale (id serial PRIMARY KEY, item int NOT NULL, buyer text NOT NULL, pieces int NOT NULL);
		INSERT INTO item VALUES (1, 'mug', 8, 0, 5)`); err != nil {
		return err
	}
	if err := together(db, order("ada", 3), order("bob", 4)); err != nil {
		return err
	}
	var sold int
	if err := db.QueryRow("SELECT coalesce(sum(pieces), 0) FROM sale WHERE item = 1").Scan(&sold); err != nil {
		return err
	}
	if sold > 5 {
		return fmt.Errorf("5 mugs, %d sold", sold)
	}
	return nil
}

func order(buyer string, pieces int) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		if variant == "right" {
			done, err := tx.Exec("UPDATE item SET stock = stock - $1 WHERE id = 1 AND stock >= $1", pieces)
			if err != nil {
				return err
			}
			if count, err := done.RowsAffected(); err != nil || count == 0 {
				return err
			}
			return sell(tx, buyer, pieces)
		}
		var name string
		var price, views, stock int
		row := tx.QueryRow("SELECT name, price, views, stock FROM item WHERE id = 1")
		if err := row.Scan(&name, &price, &views, &stock); err != nil {
			return err
		}
		if stock < pieces {
			return nil
		}
		sql, values := "UPDATE item SET name = $1, price = $2, views = $3, stock = $4 WHERE id = 1", []any{name, price, views + 1, stock - pieces}
		if variant == "wrong" { // the arithmetic is right, the check is not
			sql, values = "UPDATE item SET views = $1, stock = stock - $2 WHERE id = 1", []any{views + 1, pieces}
		}
		if _, err := tx.Exec(sql, values...); err != nil {
			return err
		}
		return sell(tx, buyer, pieces)
	}
}

func sell(tx *sql.Tx, buyer string, pieces int) error {
	_, err := tx.Exec("INSERT INTO sale (item, buyer, pieces) VALUES (1, $1, $2)", buyer, pieces)
	return err
}
