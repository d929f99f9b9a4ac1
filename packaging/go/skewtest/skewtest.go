// Package skewtest repeats the body of a test on a weak PostgreSQL until weak isolation breaks it.
//
//	func TestLastOneIsSoldOnce(t *testing.T) {
//		skewtest.Run(t, skewtest.Options{Isolation: "read committed", Setup: schema}, func(t testing.TB, db *skewtest.Database) {
//			… db.URL …
//		})
//	}
package skewtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// Options of the weak database and of the runs.
type Options struct {
	// Isolation is a SQL name ("read committed") or an id ("si"); empty: the level that each transaction asks for.
	Isolation string
	// Runs is how often the body runs; 100 if zero.
	Runs int
	// Seed is the first seed; 1 if zero. SKEW_SEED in the environment runs that one alone.
	Seed int64
	// Setup makes what every run begins with.
	Setup func(url string) error
	// Arguments are further options of `skew serve`, such as "--replicated".
	Arguments []string
	// AllowSerial accepts that no two transactions overlapped.
	AllowSerial bool
}

// Database is a weak database as a child process that takes orders on its standard input.
type Database struct {
	// URL is where clients connect.
	URL string

	process *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Scanner
	lock    sync.Mutex
}

// Answer is what an order is answered.
type answer struct {
	Error       string `json:"error"`
	Host        string `json:"host"`
	Port        int    `json:"port"`
	Text        string `json:"text"`
	Overlapping int    `json:"overlapping"`
}

// Start starts a weak database.
func Start(options Options) (*Database, error) {
	binary := os.Getenv("SKEW_BINARY")
	if binary == "" {
		binary = "skew"
	}
	arguments := []string{"serve", "--port", "0", "--format", "json", "--stdin", "--seed", "1"}
	if options.Isolation != "" {
		arguments = append(arguments, "--isolation", options.Isolation)
	}
	process := exec.Command(binary, append(arguments, options.Arguments...)...)
	process.Stderr = os.Stderr
	orders, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("skew does not start: %w", err)
	}
	answers := bufio.NewScanner(out)
	answers.Buffer(nil, 64<<20)
	db := &Database{process: process, orders: orders, answers: answers}
	started, err := db.answer()
	if err != nil {
		return nil, err
	}
	db.URL = fmt.Sprintf("postgresql://postgres@%s:%d/test?sslmode=disable", started.Host, started.Port)
	return db, nil
}

// Reset goes back to the checkpoint; the first time, what is there now becomes the checkpoint.
func (db *Database) Reset(seed int64) error {
	_, err := db.order("reset " + strconv.FormatInt(seed, 10))
	return err
}

// Explain says why what happened since the last reset is not serializable, in the application's own SQL.
func (db *Database) Explain() (string, error) {
	told, err := db.order("explain")
	return told.Text, err
}

// Close ends the database.
func (db *Database) Close() error {
	db.orders.Close()
	return db.process.Wait()
}

func (db *Database) order(line string) (answer, error) {
	db.lock.Lock()
	defer db.lock.Unlock()
	if _, err := io.WriteString(db.orders, line+"\n"); err != nil {
		return answer{}, err
	}
	return db.answer()
}

func (db *Database) answer() (answer, error) {
	var told answer
	if !db.answers.Scan() {
		return told, fmt.Errorf("the database has ended")
	}
	if err := json.Unmarshal(db.answers.Bytes(), &told); err != nil {
		return told, err
	}
	if told.Error != "" {
		return told, fmt.Errorf("%s", told.Error)
	}
	return told, nil
}

// run is a testing.TB that keeps a failure to itself until it is explained.
type run struct {
	testing.TB
	lock   sync.Mutex
	words  []string
	failed bool
}

func (r *run) note(words string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.failed = true
	if words != "" {
		r.words = append(r.words, words)
	}
}

func (r *run) Error(args ...any)                 { r.note(fmt.Sprint(args...)) }
func (r *run) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }
func (r *run) Fail()                             { r.note("") }
func (r *run) FailNow()                          { r.note(""); runtime.Goexit() }
func (r *run) Fatal(args ...any)                 { r.note(fmt.Sprint(args...)); runtime.Goexit() }
func (r *run) Fatalf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)); runtime.Goexit() }
func (r *run) Failed() bool                      { r.lock.Lock(); defer r.lock.Unlock(); return r.failed }

// Run repeats the body on a weak database, with another seed each time, and fails with the explanation.
func Run(t *testing.T, options Options, body func(t testing.TB, db *Database)) {
	t.Helper()
	db, err := Start(options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if options.Setup != nil {
		if err := options.Setup(db.URL); err != nil {
			t.Fatal(err)
		}
	}
	runs, seed := options.Runs, options.Seed
	if runs == 0 {
		runs = 100
	}
	if seed == 0 {
		seed = 1
	}
	only := os.Getenv("SKEW_SEED")
	if only != "" {
		runs = 1
		if seed, err = strconv.ParseInt(only, 10, 64); err != nil {
			t.Fatalf("SKEW_SEED: %v", err)
		}
	}
	for number := 0; number < runs; number++ {
		current := seed + int64(number)
		if err := db.Reset(current); err != nil {
			t.Fatal(err)
		}
		one := &run{TB: t}
		done := make(chan struct{})
		// A goroutine of its own, because FailNow ends it.
		go func() {
			defer close(done)
			body(one, db)
		}()
		<-done
		if one.Failed() {
			for _, words := range one.words {
				t.Log(words)
			}
			why, err := db.Explain()
			if err != nil {
				why = err.Error()
			}
			t.Fatalf("skew: run %d of %d failed; SKEW_SEED=%d repeats it\n\n%s", number+1, runs, current, why)
		}
	}
	covered, err := db.order("coverage")
	if err != nil {
		t.Fatal(err)
	}
	if covered.Overlapping == 0 && only == "" && !options.AllowSerial {
		t.Fatalf("%d runs passed, but no two transactions overlapped, so nothing was tested: let the test do two things "+
			"at the same time, on two connections (AllowSerial accepts this)", runs)
	}
	t.Log(covered.Text)
}
