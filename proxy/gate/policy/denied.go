package policy

import (
	"errors"
	"fmt"
)

// ErrDenied is wrapped by each Denied.
var ErrDenied = errors.New("a rule of the site denies this request")

// Denied is the error of a request that a rule denies.
type Denied struct {
	Rule   string // the identifier of the rule
	Reason string // the site's explanation for readers, "" for none
}

func (d *Denied) Error() string { return fmt.Sprintf("the site's rule %q denies this request", d.Rule) }

// Unwrap returns ErrDenied.
func (*Denied) Unwrap() error { return ErrDenied }
