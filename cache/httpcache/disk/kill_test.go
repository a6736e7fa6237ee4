package disk

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

const trafficKeys = 60

// trafficChild stores, replaces, removes and reads objects until it is killed. It prints "+ KEY" when an object
// is stored, and "- KEY" before all objects of a key are removed.
func trafficChild(dir string) {
	s, err := Open(dir, childConfig())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go s.Run(context.Background())
	fmt.Println("open")
	for g := range 4 {
		go func() {
			for {
				key := key(g + 4*rand.IntN(trafficKeys/4)) // used by this goroutine only
				if err := traffic(s, key); err != nil && !errors.Is(err, ErrIndexing) {
					fmt.Println("error", err)
				}
			}
		}()
	}
	poll := time.NewTicker(time.Millisecond)
	for !s.space.indexed.Load() {
		<-poll.C
	}
	poll.Stop()
	fmt.Println("indexed")
	select {}
}

// traffic performs a random operation on a key.
func traffic(s *Store, key string) error {
	objects := s.Get(key)
	switch n := rand.IntN(10); {
	case !s.space.indexed.Load(): // nothing can be stored yet, so removals would soon empty the store
		if len(objects) > 0 {
			return checkObject(objects[0])
		}
		return nil
	case n == 0:
		fmt.Println("-", key)
		return s.removeKey(key)
	case n < 4 && len(objects) > 0:
		seed := strings.Fields(string(objects[0].Head()))
		_, err := s.Replace(objects[0], []byte(strings.Join(seed[:3], " ")+" "+strings.Repeat("x", rand.IntN(5000))))
		return err
	case n < 6 && len(objects) > 0:
		return checkObject(objects[0])
	}
	size := rand.IntN(3000)
	if rand.IntN(8) == 0 {
		size = rand.IntN(3 * sliceSize)
	}
	content := body(rand.Uint64(), size)
	sum := sha256.Sum256(content)
	_, err := put(s, key, []byte(hex.EncodeToString(sum[:])+" "+key), content)
	if err != nil {
		return err
	}
	fmt.Println("+", key)
	for _, old := range objects {
		if err := s.Remove(old); err != nil {
			return err
		}
	}
	return nil
}

// checkObject compares a body with the checksum and the key in its head.
func checkObject(o *Object) error {
	want := strings.Fields(string(o.Head()))
	if len(want) < 3 || strings.Join(want[1:3], " ") != o.Key() {
		return fmt.Errorf("the head %.100q of %q", o.Head(), o.Key())
	}
	body, err := read(o, 0, -1)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != want[0] {
		return fmt.Errorf("wrong bytes in a body of %d", len(body))
	}
	return nil
}

// A process is killed repeatedly at any moment. No wrong byte is ever returned, complete objects are retained,
// and incomplete ones are removed.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	dir := filepath.Join(t.TempDir(), "cache")
	whole := map[string]bool{}
	stored, rounds := 0, 5
	if testserver.Long() {
		rounds = 50
	}
	for round := range rounds {
		cmd, out := child(t, "traffic", dir)
		if !out.Scan() || out.Text() != "open" {
			t.Fatalf("round %d: the child cannot open the store: %s", round, out.Text())
		}
		var kill *time.Timer
		killSoon := func() {
			kill = time.AfterFunc(time.Duration(5+rand.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		if round%5 == 4 { // during or soon after the indexing
			killSoon()
		}
		stored += journal(t, out, whole, func() {
			if kill == nil {
				killSoon()
			}
		})
		kill.Stop()
		_ = cmd.Wait()
		checkAfterKill(t, dir, round, whole)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d objects were stored, %d keys have one at the end", stored, len(whole))
}

// journal reads the output of the child until it was killed.
func journal(t *testing.T, out *bufio.Scanner, whole map[string]bool, indexed func()) (stored int) {
	t.Helper()
	for out.Scan() {
		what, key, _ := strings.Cut(out.Text(), " ")
		switch what {
		case "+":
			whole[key] = true
			stored++
		case "-":
			delete(whole, key)
		case "indexed":
			indexed()
		default:
			t.Error(out.Text())
		}
	}
	return stored
}

func checkAfterKill(t *testing.T, dir string, round int, whole map[string]bool) {
	t.Helper()
	var log lockedBuffer
	config := childConfig()
	config.Log = logTo(&log)
	s, err := Open(dir, config)
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	defer s.Close()
	missing := 0
	for i := range trafficKeys {
		objects := s.Get(key(i))
		for _, o := range objects {
			if err := checkObject(o); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}
		if len(objects) == 0 && whole[key(i)] {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("round %d: %d of %d objects are missing", round, missing, len(whole))
	}
	s.removeLeftovers()
	if left, err := os.ReadDir(filepath.Join(dir, incoming)); err != nil && !os.IsNotExist(err) || len(left) > 0 {
		t.Errorf("round %d: %d temporary files, %v", round, len(left), err)
	}
	if stats := s.Stats(); stats.Corrupt != 0 || stats.Failures != 0 {
		t.Errorf("round %d: %+v\n%s", round, stats, bytes.TrimSpace([]byte(log.String())))
	}
}
