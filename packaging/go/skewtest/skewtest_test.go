package skewtest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

func schema(url string) error {
	db, err := pgx.Connect(context.Background(), url)
	if err != nil {
		return err
	}
	defer db.Close(context.Background())
	_, err = db.Exec(context.Background(),
		"CREATE TABLE products (id int PRIMARY KEY, stock int NOT NULL); INSERT INTO products VALUES (1, 1)")
	return err
}

func buy(t testing.TB, url, look string) bool {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Error(err)
		return false
	}
	defer db.Close(ctx)
	tx, err := db.Begin(ctx)
	if err != nil {
		t.Error(err)
		return false
	}
	var stock int
	if err := tx.QueryRow(ctx, look).Scan(&stock); err != nil {
		t.Error(err)
		return false
	}
	if stock > 0 {
		if _, err := tx.Exec(ctx, "UPDATE products SET stock = $1 WHERE id = 1", stock-1); err != nil {
			t.Error(err)
			return false
		}
	}
	return tx.Commit(ctx) == nil && stock > 0
}

func shop(look string) func(testing.TB, *Database) {
	return func(t testing.TB, db *Database) {
		var sold atomic.Int32
		var buyers sync.WaitGroup
		for range [2]struct{}{} {
			buyers.Add(1)
			go func() {
				defer buyers.Done()
				if buy(t, db.URL, look) {
					sold.Add(1)
				}
			}()
		}
		buyers.Wait()
		if sold.Load() != 1 {
			t.Fatalf("sold %d", sold.Load())
		}
	}
}

func TestTheFixedShopPassesEveryRun(t *testing.T) {
	Run(t, Options{Isolation: "read committed", Setup: schema}, shop("SELECT stock FROM products WHERE id = 1 FOR UPDATE"))
}

// TestBuggy fails, and is run by the test below.
func TestBuggy(t *testing.T) {
	if os.Getenv("SKEWTEST_BUGGY") == "" {
		t.Skip("it is meant to fail")
	}
	Run(t, Options{Isolation: "read committed", Setup: schema}, shop("SELECT stock FROM products WHERE id = 1"))
}

func TestTheLostUpdateIsFoundAndExplained(t *testing.T) {
	command := exec.Command(os.Args[0], "-test.run", "^TestBuggy$")
	command.Env = append(os.Environ(), "SKEWTEST_BUGGY=1")
	out, err := command.CombinedOutput()
	if err == nil {
		t.Fatalf("it passed:\n%s", out)
	}
	for _, words := range []string{"sold 2", "SKEW_SEED=", "violated[lost-update]", "UPDATE products SET stock"} {
		if !strings.Contains(string(out), words) {
			t.Errorf("there is no %q in\n%s", words, out)
		}
	}
}
