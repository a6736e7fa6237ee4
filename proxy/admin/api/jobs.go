package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

const typeNDJSON = "application/x-ndjson"

// jobFormats returns the bulk format of each media type.
func jobFormats() map[string]bulk.Format {
	return map[string]bulk.Format{
		typeNDJSON: bulk.NDJSON, "application/ndjson": bulk.NDJSON, "text/csv": bulk.CSV,
		"text/tab-separated-values": bulk.TSV,
		"application/json":          jobs.Rewrite,
	}
}

// serveAccept accepts an import, or a rewrite (a JSON object), that runs in the background: RFC 9110 section
// 15.3.3.
func serveAccept(c *call) (message.Reply, error) {
	u := jobs.Upload{Note: c.get("note"), Encoding: c.get("encoding"), Body: c.Body, Size: c.ContentLength}
	var err error
	if u.DryRun, err = boolean("dry_run", c.get("dry_run")); err == nil {
		u.Overwrite, err = boolean("overwrite", c.get("overwrite"))
	}
	if err != nil {
		return message.Reply{}, err
	}
	kind, err := c.contentType(typeNDJSON, "application/ndjson", "text/csv", "text/tab-separated-values",
		"application/json")
	switch {
	case err != nil:
		return message.Reply{}, err
	case c.Header.Get("Content-Encoding") != "":
		return message.Reply{}, fmt.Errorf("%w: %w", problem.ErrContentType, jobs.ErrCompressed)
	case len(c.Header["Idempotency-Key"]) > 1:
		return message.Reply{}, fmt.Errorf("%w: more than one Idempotency-Key", problem.ErrSelection)
	}
	u.Format, u.Key = jobFormats()[kind], c.Header.Get("Idempotency-Key")
	job, err := c.service.Accept(c.Context(), c.actor, u)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return message.Reply{}, problem.ErrBodyTimeout
	case errors.Is(err, jobs.ErrCompressed):
		return message.Reply{}, fmt.Errorf("%w: %w", problem.ErrContentType, err)
	case err != nil:
		return message.Reply{}, err
	}
	r := message.JSON(http.StatusAccepted, job)
	r.Location = "/api/v1/jobs/" + job.ID
	return r, nil
}

// serveJobs returns the list of jobs, the newest first.
func serveJobs(c *call) (message.Reply, error) {
	list, err := c.service.Jobs(c.Context(), c.actor)
	return message.JSON(http.StatusOK, map[string]any{"jobs": list}), err
}

func serveJob(c *call) (message.Reply, error) {
	job, err := c.service.Job(c.Context(), c.actor, c.id)
	return message.JSON(http.StatusOK, job), err
}

func serveCancel(c *call) (message.Reply, error) {
	job, err := c.service.Cancel(c.Context(), c.actor, c.id)
	return message.JSON(http.StatusAccepted, job), err
}

// serveRejected returns the rejected records of a job.
func serveRejected(c *call) (message.Reply, error) {
	format, err := c.format("ndjson", "csv")
	if err != nil {
		return message.Reply{}, err
	}
	f, err := c.service.Rejected(c.Context(), c.actor, c.id)
	if err != nil {
		return message.Reply{}, err
	}
	r := fileReply(format, "rejected-"+c.id, func() { _ = f.Close() }, func(w message.Stream) error {
		if format == "csv" {
			return rejectedTable(w, f)
		}
		_, err := io.Copy(w, f)
		return err
	})
	return r, nil
}

// format returns the parameter "format", which must be one of names; the first one is the default.
func (c *call) format(names ...string) (string, error) {
	format := cmp.Or(c.get("format"), names[0])
	if !slices.Contains(names, format) {
		last := len(names) - 1
		return "", fmt.Errorf("%w: format must be %s or %s", problem.ErrSelection, strings.Join(names[:last], ", "),
			names[last])
	}
	return format, nil
}

// fileReply returns a reply that streams a file in a format. name is its file name without extension, to be
// saved by a browser; "" for a file to be shown.
func fileReply(format, name string, closer func(), stream func(message.Stream) error) message.Reply {
	types := map[string]string{
		"ndjson": typeNDJSON, "csv": "text/csv; charset=utf-8", "tsv": "text/tab-separated-values; charset=utf-8",
		"text": "text/plain; charset=utf-8",
	}
	r := message.Reply{
		Status: http.StatusOK, ContentType: types[format], CacheControl: message.NoStore, Close: closer,
		Stream: stream,
	}
	if name != "" {
		r.Fields = httpmessage.NewFields("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+"."+format))
	}
	return r
}

// rejectedTable writes rejected records as CSV, in the columns of the option --rejected of the command.
func rejectedTable(w io.Writer, from io.Reader) error {
	table := tabular.NewWriter(w, ',')
	_ = table.Write("line", "reason", "input") // Flush returns the error
	lines := json.NewDecoder(from)
	for {
		var line jobs.Rejection
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the last record may be incomplete
			return table.Flush()
		case err != nil:
			return err
		}
		_ = table.Write(strconv.FormatInt(line.Line, 10), line.Reason, line.Input)
	}
}

// serveDifferences returns the differences that a dry run has found.
func serveDifferences(c *call) (message.Reply, error) {
	format, err := c.format("ndjson", "csv", "text")
	if err != nil {
		return message.Reply{}, err
	}
	f, err := c.service.Differences(c.Context(), c.actor, c.id)
	if err != nil {
		return message.Reply{}, err
	}
	r := fileReply(format, "", func() { _ = f.Close() }, func(w message.Stream) error {
		if format != "ndjson" {
			return differencesAs(w, f, diff.Format(format))
		}
		_, err := io.Copy(w, f)
		return err
	})
	return r, nil
}

// differencesAs converts stored differences (NDJSON) to another format.
func differencesAs(w io.Writer, from io.Reader, format diff.Format) error {
	p := &diff.Printer{Out: w, Format: format}
	lines := json.NewDecoder(from)
	for {
		var line struct {
			diff.Change
			Counts *diff.Counts `json:"counts"`
		}
		err := lines.Decode(&line)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the job is still running
			return p.End(io.Discard)
		case err != nil:
			return err
		case line.Counts != nil:
			p.Counts = *line.Counts
			return p.End(io.Discard)
		}
		if p.Print(line.Change); p.Err() != nil {
			return p.Err()
		}
	}
}
