package testserver

import "testing"

func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	p := StartPostgres(t)
	p.Create("names")
	p.Ask("names", "CREATE TABLE n (i int)")
	p.Ask("names", "INSERT INTO n VALUES (1)")
	p.Stop()
	p.Start()
	if got := p.Ask("names", "SELECT i, 'x' FROM n"); got != "1|x" {
		t.Errorf("after a restart: %q", got)
	}
	p.Ask("names", "INSERT INTO n VALUES (2)")
	p.Kill()
	p.Start()
	if got := p.Ask("names", "SELECT max(i) FROM n"); got != "2" {
		t.Errorf("after a power failure: %q", got)
	}
}

func TestStandby(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	p := StartPostgres(t)
	s := p.StartStandby()
	p.Ask("", "CREATE TABLE n (i int)")
	Wait(t, "the replica has the table", func() bool { return s.Ask("", "SELECT to_regclass('n')") == "n" })
	if got := s.Ask("", "SELECT pg_is_in_recovery()"); got != "t" {
		t.Errorf("the replica is in recovery: %q", got)
	}
}
