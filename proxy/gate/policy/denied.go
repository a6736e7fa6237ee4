package policy

import (
	"errors"
	"fmt"
)

// ErrDenied is in the chain of each Denied.
var ErrDenied = errors.New("a rule of the site denies this request")

// Denied is the error for a request that a rule denies.
type Denied struct {
	Rule   string // its id
	Reason string // what the site says of it to readers, "" for nothing
}

func (d *Denied) Error() string { return fmt.Sprintf("the site's rule %q denies this request", d.Rule) }

// Unwrap returns ErrDenied.
func (*Denied) Unwrap() error { return ErrDenied }
