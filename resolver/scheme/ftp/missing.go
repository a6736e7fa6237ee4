package ftp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// missing returns a refusal where the directory does not have the name of the target: for HEAD at servers
// that know neither SIZE nor MDTM, of which only the names tell what there is. It is nil where they do not
// tell it.
func (f *fetch) missing(ctx context.Context) error {
	if f.target.Name[0] == '.' { // many servers do not list these
		return nil
	}
	err := f.control.setType(ctx, 'A')
	var found listed
	if err == nil {
		found, err = f.lines(ctx, "NLST", "", parseName)
	}
	isRefused := errors.As(err, new(*scheme.Refusal)) || errors.Is(err, scheme.ErrResponse)
	if err != nil && (!isRefused || f.control.broken) {
		return err
	}
	switch {
	case isRefused, found.incomplete != "", found.unknown > 0:
		return nil
	case slices.ContainsFunc(found.entries, func(e entry) bool { return strings.EqualFold(e.name, f.target.Name) }):
		return nil
	default:
		return scheme.Decline(http.StatusNotFound, "ftp_no_name", "the directory has no such name")
	}
}
