package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// Jobs are imports and rewrites in the background. They are those of *jobs.Jobs.
type Jobs interface {
	Accept(ctx context.Context, actor registry.Actor, u jobs.Upload) (jobs.Job, bool, error)
	Get(ctx context.Context, actor registry.Actor, id string) (jobs.Job, error)
	List(ctx context.Context, actor registry.Actor) ([]jobs.Job, error)
	Cancel(ctx context.Context, actor registry.Actor, id string) (jobs.Job, error)
	Rejected(ctx context.Context, actor registry.Actor, id string) (*os.File, error)
	Differences(ctx context.Context, actor registry.Actor, id string) (*os.File, error)
}

const typeNDJSON = "application/x-ndjson"

// jobFormats are the formats of bodies by media type.
func jobFormats() map[string]bulk.Format {
	return map[string]bulk.Format{
		typeNDJSON: bulk.NDJSON, "application/ndjson": bulk.NDJSON, "text/csv": bulk.CSV, "text/tab-separated-values": bulk.TSV,
		"application/json": jobs.Rewrite,
	}
}

// jobs returns the jobs of the registry, if there can be any.
func (h *Handler) jobs() (Jobs, error) {
	if h.config.Registry.Jobs == nil {
		return nil, problem.ErrNoJobs
	}
	return h.config.Registry.Jobs, nil
}

// serveAccept takes an import, or a rewrite, which is a JSON object, that is done in the background: RFC 9110 section 15.3.3.
func (h *Handler) serveAccept(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "dry_run", "overwrite", "note", "encoding")
	if err != nil {
		return message.Reply{}, err
	}
	u := jobs.Upload{Note: given["note"], Encoding: given["encoding"], Body: c.Body, Octets: c.ContentLength}
	for name, is := range map[string]*bool{"dry_run": &u.DryRun, "overwrite": &u.Overwrite} {
		if value, ok := given[name]; ok {
			if *is, err = boolean(name, value); err != nil {
				return message.Reply{}, err
			}
		}
	}
	kind, err := c.contentType(typeNDJSON, "application/ndjson", "text/csv", "text/tab-separated-values", "application/json")
	switch {
	case err != nil:
		return message.Reply{}, err
	case c.Header.Get("Content-Encoding") != "":
		return message.Reply{}, fmt.Errorf("%w: %w", problem.ErrContentType, jobs.ErrCompressed)
	case len(c.Header["Idempotency-Key"]) > 1:
		return message.Reply{}, fmt.Errorf("%w: there are several fields Idempotency-Key", problem.ErrSelection)
	}
	u.Format, u.Key = jobFormats()[kind], c.Header.Get("Idempotency-Key")
	all, err := h.jobs()
	if err != nil {
		return message.Reply{}, err
	}
	job, _, err := all.Accept(c.Context(), c.actor, u)
	if err != nil {
		return message.Reply{}, ofJob(err)
	}
	r := message.JSON(http.StatusAccepted, job)
	r.Location = "/api/v1/jobs/" + job.ID
	return r, nil
}

// ofJob returns an error of jobs as the table of statuses knows it.
func ofJob(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return problem.ErrBodyTimeout
	}
	for _, known := range [...][2]error{ // which say the same
		{jobs.ErrUnknown, problem.ErrJob},
		{jobs.ErrReused, problem.ErrKeyReused},
		{jobs.ErrWaiting, problem.ErrJobs},
	} {
		if errors.Is(err, known[0]) {
			return known[1]
		}
	}
	for _, known := range [...][2]error{
		{jobs.ErrShare, problem.ErrTokenShare},
		{jobs.ErrElsewhere, problem.ErrJob},
		{jobs.ErrLarge, problem.ErrDocumentSize},
		{jobs.ErrCompressed, problem.ErrContentType},
		{jobs.ErrEnded, problem.ErrJobEnded},
	} {
		if errors.Is(err, known[0]) {
			return fmt.Errorf("%w: %w", known[1], err)
		}
	}
	return err
}

// serveJobs answers the list of jobs, the newest first.
func (h *Handler) serveJobs(c *call) (message.Reply, error) {
	all, err := h.jobs()
	if err != nil {
		return message.Reply{}, err
	}
	list, err := all.List(c.Context(), c.actor)
	if err != nil {
		return message.Reply{}, err
	}
	return message.JSON(http.StatusOK, map[string]any{"jobs": list}), nil
}

func (h *Handler) serveJob(c *call) (message.Reply, error) {
	all, err := h.jobs()
	if err != nil {
		return message.Reply{}, err
	}
	job, err := all.Get(c.Context(), c.actor, c.job)
	if err != nil {
		return message.Reply{}, ofJob(err)
	}
	return message.JSON(http.StatusOK, job), nil
}

func (h *Handler) serveCancel(c *call) (message.Reply, error) {
	all, err := h.jobs()
	if err != nil {
		return message.Reply{}, err
	}
	job, err := all.Cancel(c.Context(), c.actor, c.job)
	if err != nil {
		return message.Reply{}, ofJob(err)
	}
	return message.JSON(http.StatusAccepted, job), nil
}

// serveRejected answers the rejected lines of a job.
func (h *Handler) serveRejected(c *call) (message.Reply, error) {
	given, err := parametersOf(c.Request, "format")
	if err != nil {
		return message.Reply{}, err
	}
	all, err := h.jobs()
	if err != nil {
		return message.Reply{}, err
	}
	f, err := all.Rejected(c.Context(), c.actor, c.job)
	if err != nil {
		return message.Reply{}, ofJob(err)
	}
	r := message.Reply{
		Status: http.StatusOK, ContentType: typeNDJSON, CacheControl: message.NoStore, Close: func() { _ = f.Close() },
		Fields: httpmessage.FieldsOf("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "rejected-"+c.job+".ndjson")),
		Stream: func(w message.Stream) error {
			_, err := io.Copy(w, f)
			return err
		},
	}
	switch given["format"] {
	case "", "ndjson":
	case "csv":
		r.ContentType = "text/csv; charset=utf-8"
		r.Fields = httpmessage.FieldsOf("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "rejected-"+c.job+".csv"))
		r.Stream = func(w message.Stream) error { return rejectedTable(w, f) }
	default:
		r.Close()
		return message.Reply{}, fmt.Errorf("%w: format is ndjson or csv", problem.ErrSelection)
	}
	return r, nil
}

// rejectedTable writes rejected lines as the option --rejected of the command does.
func rejectedTable(w io.Writer, from io.Reader) error {
	table := tabular.NewWriter(w, ',')
	_ = table.Write("line", "reason", "input") // Flush returns the error
	lines := json.NewDecoder(from)
	for {
		var line jobs.Rejection
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the last one may be half written
			return table.Flush()
		case err != nil:
			return err
		}
		_ = table.Write(strconv.FormatInt(line.Line, 10), line.Reason, line.Input)
	}
}
