package ftp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// missing returns a refusal if the directory does not list the name of the target. HEAD needs it for servers
// without SIZE and MDTM, where only NLST shows whether a file exists. It returns nil if the list is unavailable
// or incomplete.
func (f *fetch) missing(ctx context.Context) error {
	if f.target.Name[0] == '.' { // many servers do not list dot files
		return nil
	}
	err := f.control.setType(ctx, 'A')
	var found listed
	if err == nil {
		found, err = f.lines(ctx, "NLST", "", parseName)
	}
	refused := errors.As(err, new(*scheme.StatusError)) || errors.Is(err, scheme.ErrInvalidResponse)
	if err != nil && (!refused || f.control.broken) {
		return err
	}
	switch {
	case refused, found.incomplete != "", found.unknown > 0:
		return nil
	case slices.ContainsFunc(found.entries, func(e entry) bool { return strings.EqualFold(e.name, f.target.Name) }):
		return nil
	default:
		return scheme.PolicyDenial(http.StatusNotFound, "ftp_no_name", "no such name in the directory")
	}
}
