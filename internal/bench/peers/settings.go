//go:build linux

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are the settings in the environment.
type settings struct {
	measure     time.Duration // BENCH_SECONDS, of each row and server, in turns
	warm        time.Duration // before each turn, at most
	connections int           // BENCH_CONNECTIONS
	only        []string      // BENCH_ONLY, names of peers; empty for all
	rows        string        // BENCH_ROWS, parts of titles separated by |; empty for all
	urnd        string        // BENCH_URND, path of the program
	before      string        // BENCH_BEFORE, program of an earlier commit as a separate peer; "" for none
	floor       string        // BENCH_FLOOR, the program ../floor; "" for none
	processors  []int         // BENCH_PROCESSORS, of the server; each peer is measured with each number
	profile     string        // BENCH_PROFILE, file for a profile of urnd, written instead of the tables
}

func readSettings(getenv func(string) string) (settings, error) {
	seconds, err := number(getenv, "BENCH_SECONDS", 10)
	if err != nil {
		return settings{}, err
	}
	connections, err := number(getenv, "BENCH_CONNECTIONS", 32)
	if err != nil {
		return settings{}, err
	}
	processors, err := numbers(getenv, "BENCH_PROCESSORS", 1)
	if err != nil {
		return settings{}, err
	}
	if getenv("BENCH_URND") == "" {
		return settings{}, errors.New("BENCH_URND: the program of urnd is missing")
	}
	urnd, err := filepath.Abs(getenv("BENCH_URND"))
	if err != nil {
		return settings{}, fmt.Errorf("BENCH_URND: %w", err)
	}
	s := settings{
		measure:     time.Duration(seconds) * time.Second,
		warm:        time.Second,
		connections: connections,
		only:        list(getenv("BENCH_ONLY")),
		rows:        getenv("BENCH_ROWS"),
		urnd:        urnd,
		before:      getenv("BENCH_BEFORE"),
		floor:       getenv("BENCH_FLOOR"),
		processors:  processors,
		profile:     getenv("BENCH_PROFILE"),
	}
	for _, name := range s.only {
		if name != curlName && !slices.ContainsFunc(peers(s), func(p peer) bool { return p.name == name }) {
			return settings{}, fmt.Errorf("BENCH_ONLY: there is no %q", name)
		}
	}
	return s, nil
}

func number(getenv func(string) string, name string, otherwise int) (int, error) {
	all, err := numbers(getenv, name, otherwise)
	if err == nil && len(all) > 1 {
		return 0, fmt.Errorf("%s: %q is more than one number", name, getenv(name))
	}
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// numbers returns a non-empty list of numbers.
func numbers(getenv func(string) string, name string, otherwise int) ([]int, error) {
	var all []int
	for _, text := range list(getenv(name)) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return nil, fmt.Errorf("%s: %q is not a number from 1 to 1000", name, text)
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return []int{otherwise}, nil
	}
	return all, nil
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
