package testserver

import "testing"

func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	p := StartPostgres(t)
	p.Create("names")
	p.Query("names", "CREATE TABLE n (i int)")
	p.Query("names", "INSERT INTO n VALUES (1)")
	p.Stop()
	p.Start()
	if got := p.Query("names", "SELECT i, 'x' FROM n"); got != "1|x" {
		t.Errorf("after a restart: %q", got)
	}
	p.Query("names", "INSERT INTO n VALUES (2)")
	p.Kill()
	p.Start()
	if got := p.Query("names", "SELECT max(i) FROM n"); got != "2" {
		t.Errorf("after a power failure: %q", got)
	}
}

func TestStandby(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	p := StartPostgres(t)
	s := p.StartStandby()
	p.Query("", "CREATE TABLE n (i int)")
	Wait(t, "the replica has the table", func() bool { return s.Query("", "SELECT to_regclass('n')") == "n" })
	if got := s.Query("", "SELECT pg_is_in_recovery()"); got != "t" {
		t.Errorf("the replica is in recovery: %q", got)
	}
}
