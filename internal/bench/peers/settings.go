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

// settings is what the environment selects.
type settings struct {
	measure     time.Duration // BENCH_SECONDS, of each row
	warm        time.Duration // before it
	connections int           // BENCH_CONNECTIONS
	only        []string      // BENCH_ONLY, names of peers; empty is all
	rows        string        // BENCH_ROWS, a part of their titles; empty is all
	urnd        string        // BENCH_URND, the program
}

func readSettings(getenv func(string) string) (settings, error) {
	seconds, err := number(getenv, "BENCH_SECONDS", 5)
	if err != nil {
		return settings{}, err
	}
	connections, err := number(getenv, "BENCH_CONNECTIONS", 32)
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
	}
	for _, name := range s.only {
		if name != curlName && !slices.ContainsFunc(peers(s), func(p peer) bool { return p.name == name }) {
			return settings{}, fmt.Errorf("BENCH_ONLY: there is no %q", name)
		}
	}
	return s, nil
}

func number(getenv func(string) string, name string, otherwise int) (int, error) {
	text := getenv(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1000 {
		return 0, fmt.Errorf("%s: %q is not a number from 1 to 1000", name, text)
	}
	return n, nil
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
