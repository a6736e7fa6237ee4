package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry/diff"
)

// serveDifferences answers what a job that is a dry run would change.
func (h *Handler) serveDifferences(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "format")
	if err != nil {
		return message.Reply{}, err
	}
	kind, format := typeNDJSON, diff.NDJSON
	switch given["format"] {
	case "", "ndjson":
	case "csv":
		kind, format = "text/csv; charset=utf-8", diff.CSV
	case "text":
		kind, format = "text/plain; charset=utf-8", diff.Text
	default:
		return message.Reply{}, fmt.Errorf("%w: format is ndjson, csv or text", problem.ErrSelection)
	}
	all, err := h.jobs()
	if err != nil {
		return message.Reply{}, err
	}
	f, err := all.Differences(c.Context(), c.actor, c.job)
	if err != nil {
		return message.Reply{}, ofJob(err)
	}
	return message.Reply{
		Status: http.StatusOK, ContentType: kind, CacheControl: message.NoStore, Close: func() { _ = f.Close() },
		Stream: func(w message.Stream) error {
			if format == diff.NDJSON {
				_, err := io.Copy(w, f)
				return err
			}
			return differencesAs(w, f, format)
		},
	}, nil
}

// differencesAs writes differences in another format than the one in which they are kept.
func differencesAs(w io.Writer, from io.Reader, format diff.Format) error {
	p := &diff.Printer{To: w, Format: format}
	lines := json.NewDecoder(from)
	for {
		var line struct {
			diff.Change
			Counts *diff.Counts `json:"counts"`
		}
		err := lines.Decode(&line)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the job runs still
			return p.End(io.Discard)
		case err != nil:
			return err
		case line.Counts != nil:
			p.Counts = *line.Counts
			return p.End(io.Discard)
		}
		if err := p.Print(line.Change); err != nil {
			return err
		}
	}
}
