package ftp

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// features are the features of a server that matter here: RFC 2389.
type features struct {
	tls, mlst, utf8 bool
}

// parseFeatures parses the reply to FEAT.
func parseFeatures(r reply) features {
	var f features
	if r.code != 211 {
		return f
	}
	for _, line := range r.lines[1:] {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(name) {
		case "AUTH":
			f.tls = f.tls || strings.Contains(strings.ToUpper(rest), "TLS")
		case "MLST", "MLSD": // RFC 3659 section 7.8: either means both
			f.mlst = true
		case "UTF8":
			f.utf8 = true
		}
	}
	return f
}

// errFeatures is wrapped by the error of a connection that failed at FEAT.
var errFeatures = errors.New("FEAT was sent")

// queryFeatures queries the features, unless noFEAT is set: the server then counts as one without features.
func (c *control) queryFeatures(ctx context.Context) error {
	if c.noFEAT {
		return nil
	}
	r, err := c.command(ctx, "FEAT", "")
	if err != nil {
		return fmt.Errorf("%w: %w", errFeatures, err)
	}
	c.features = parseFeatures(r)
	return nil
}
