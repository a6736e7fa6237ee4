package shared

import (
	"errors"
	"testing"
)

// TestReuse checks that a value is closed with the last configuration that uses it, in any order.
func TestReuse(t *testing.T) {
	closed := 0
	reuse := func(v, previous *Values, basis string) *int {
		t.Helper()
		value, err := Reuse(v, previous, "name", basis,
			func() (*int, func(), error) { return new(int), func() { closed++ }, nil })
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	var a, b, c Values
	first := reuse(&a, nil, "x")
	if reuse(&b, &a, "x") != first {
		t.Error("it is made again although its basis is the same")
	}
	if reuse(&c, &b, "y") == first {
		t.Error("it is reused although its basis has changed")
	}
	b.Close()
	if closed != 0 {
		t.Error("it is closed while another configuration has it")
	}
	a.Close()
	c.Close()
	if closed != 2 {
		t.Errorf("%d of 2 are closed", closed)
	}
}

func TestReuseOtherNamesAndTypes(t *testing.T) {
	var before, after Values
	if _, err := Reuse(&before, nil, "a", 1, func() (int, func(), error) { return 1, func() {}, nil }); err != nil {
		t.Fatal(err)
	}
	if got, err := Reuse(&after, &before, "b", 1, func() (int, func(), error) { return 2, func() {}, nil }); got != 2 ||
		err != nil {
		t.Errorf("another name: %d, %v", got, err)
	}
	if got, err := Reuse(&after, &before, "a", 1,
		func() (string, func(), error) { return "3", func() {}, nil }); got != "3" || err != nil {
		t.Errorf("another type: %q, %v", got, err)
	}
	failing := errors.New("failing")
	if _, err := Reuse(&after, &before, "c", 1,
		func() (int, func(), error) { return 0, nil, failing }); !errors.Is(err, failing) {
		t.Errorf("got %v", err)
	}
	after.Close() // a value that was not created is not closed
}
