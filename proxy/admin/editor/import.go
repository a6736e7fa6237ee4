package editor

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// PathImport is the path of the import of many names.
const PathImport = "/registry/import"

const pathDraft = PathImport + "/{id}"

// doImport is the value of the button that carries out a draft.
const doImport = "import"

// maxImport limits an uploaded file, in bytes.
const maxImport = 16 << 20

// importPage is the data of the upload form.
type importPage struct {
	Field              pages.Content
	Error              pages.Content
	Text, Format       string
	Encoding           string
	Encodings, Formats []string
	Drafts             []shownDraft
	MiB                int
}

// shownDraft is an upload that was not imported yet.
type shownDraft struct {
	Name, Path string
	Bytes      int64
	Used       time.Time
}

// encodings returns the offered character encodings, those of current and old spreadsheet programs. Jobs
// support others, too.
func encodings() []string {
	return []string{
		"utf-8", "utf-16le", "utf-16be", "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254",
		"windows-1257", "iso-8859-2", "iso-8859-15", "macintosh", "ibm866", "koi8-r", "gb18030", "big5", "shift_jis",
		"euc-jp", "euc-kr",
	}
}

// serveImport shows the upload form, and accepts uploads.
func (e *Editor) serveImport(p *Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return e.showImport(p, nil), nil
	}
	d, text, err := draftOf(p)
	if err == nil {
		if d, err = e.Drafts.begin(p, d, text); err == nil {
			return seeOther(draftPath(d)), nil
		}
	}
	if !e.isFormError(p, err) {
		return message.Reply{}, err
	}
	return e.showImport(p, err), nil
}

// redisplayImport shows the form as it was submitted, except for a file: browsers do not fill it in.
func (e *Editor) redisplayImport(p *Request) (message.Reply, error) { return e.showImport(p, nil), nil }

// showImport shows the upload form as it was submitted, and earlier uploads.
func (e *Editor) showImport(p *Request, failure error) message.Reply {
	page := importPage{
		Field: p.Field.HTML(), Encodings: encodings(), Formats: []string{"csv", "tsv", "ndjson"}, MiB: maxImport >> 20,
		Format: p.Form.Get("format"), Encoding: p.Form.Get("encoding"), Text: p.Form.Get("text"),
	}
	for _, d := range e.Drafts.of(p) {
		if d.isUpload() {
			page.Drafts = append(page.Drafts, shownDraft{d.Name, draftPath(d), d.Bytes, d.used})
		}
	}
	page.Error = errorContent(p.Panel.Writer, failure)
	return withErrorStatus(e.show(p, p.Panel.Writer.Text("import.title"), "import.html", page), failure)
}

// draftOf returns the draft of an uploaded form, and its text in UTF-8.
func draftOf(p *Request) (d draft, text []byte, err error) {
	text, name, err := sentFile(p)
	if err != nil {
		return d, nil, err
	}
	format, err := bulk.ParseFormat(p.Form.Get("format"))
	if err != nil {
		return d, nil, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	if format == bulk.Detect {
		format = bulk.FormatOf(name)
	}
	of, err := charset.Parse(p.Form.Get("encoding"))
	if err != nil {
		return d, nil, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	if text, err = bulk.Decode(text, of); err == nil {
		err = checkSize(int64(len(text)))
	}
	if err != nil {
		return d, nil, err
	}
	start := bytes.TrimLeft(text, " \t\r\n")
	if format == bulk.Detect && bytes.HasPrefix(start, []byte("{")) {
		format = bulk.NDJSON
	}
	d = draft{Name: name, Kind: format}
	switch format {
	case bulk.NDJSON:
		if len(start) == 0 {
			err = invalid("file_empty")
		}
		return d, text, err
	case bulk.TSV:
	case bulk.CSV, bulk.Detect:
		d.Kind = bulk.CSV
	default:
		return d, nil, invalid("import_by_command", "Format", string(format))
	}
	if d.Preview, err = previewOf(text, format); err != nil {
		return d, nil, err
	}
	d.Columns = guessColumns(&d.Preview)
	return d, text, nil
}

// sentFile returns the uploaded file with its name, or the typed text.
func sentFile(p *Request) (text []byte, name string, err error) {
	typed := p.Form.Get("text")
	if p.MultipartForm == nil || len(p.MultipartForm.File["file"]) == 0 ||
		p.MultipartForm.File["file"][0].Filename == "" {
		if strings.TrimSpace(typed) == "" {
			return nil, "", invalid("import_nothing")
		}
		return []byte(typed), "", checkSize(int64(len(typed)))
	}
	if strings.TrimSpace(typed) != "" {
		return nil, "", invalid("import_both")
	}
	header := p.MultipartForm.File["file"][0]
	if err := checkSize(header.Size); err != nil {
		return nil, "", err
	}
	f, err := header.Open()
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", problem.ErrDocument, err)
	}
	defer f.Close()
	if text, err = io.ReadAll(io.LimitReader(f, maxImport)); err != nil {
		return nil, "", fmt.Errorf("%w: %w", problem.ErrDocument, err)
	}
	return text, plaintext.Shorten(strings.ToValidUTF8(header.Filename, "\ufffd"), 200), nil
}

func checkSize(bytes int64) error {
	if bytes > maxImport {
		return invalidAs(problem.ErrDocumentSize, "import_large", "Bytes", strconv.FormatInt(bytes, 10), "MiB",
			strconv.Itoa(maxImport>>20))
	}
	return nil
}

// draftPage is the data of the page that maps columns.
type draftPage struct {
	Field     pages.Content
	Path      string
	Name      string
	Bytes     int64
	Columns   []mappedColumn
	Groups    []columnGroup
	Lines     []string // the first lines of a file that is no table
	Note      string
	IsData    bool
	Overwrite bool
	Error     pages.Content
}

// serveDraft shows an upload with the mapping of its columns, and checks, imports or discards it.
func (e *Editor) serveDraft(p *Request) (message.Reply, error) {
	d, ok := e.Drafts.find(p, p.ID)
	if !ok || !d.isUpload() {
		if p.Form.Get("do") == doImport {
			return gone(p, e.serveJobs)
		}
		p.Form = nil // the form is that of the draft
		reply := e.showImport(p, errNoDraft)
		reply.Status = http.StatusGone
		return reply, nil
	}
	if p.Method != http.MethodPost {
		return e.showDraft(p, d, nil)
	}
	switch p.Form.Get("do") {
	case "discard":
		e.Drafts.end(d)
		p.Outcome = p.Panel.Writer.T("import.discarded")
		return seeOther(PathImport), nil
	case doImport:
		return e.sendDraft(p, d)
	}
	d.take(p.Form)
	var err error
	if d.isTable() {
		err = checkColumns(d.Columns)
	}
	if err == nil {
		err = registry.CheckText("note", d.Note, registry.MaxText)
	}
	if err != nil {
		return e.showDraft(p, d, err)
	}
	return e.checkDraft(p, d)
}

// take sets the fields of a draft from a form.
func (d *draft) take(form url.Values) {
	d.Note, d.IsData, d.Overwrites = strings.TrimSpace(form.Get("note")), form.Get("data") != "",
		form.Get("overwrite") != ""
	for i := range d.Columns {
		d.Columns[i] = form.Get("c" + strconv.Itoa(i))
	}
}

// redisplayDraft shows a draft with the submitted mapping. The buttons to import and to discard have forms of
// their own, which are submitted again.
func (e *Editor) redisplayDraft(p *Request) (message.Reply, error) {
	d, ok := e.Drafts.find(p, p.ID)
	if do := p.Form.Get("do"); !ok || !d.isUpload() || do == doImport || do == "discard" {
		return message.Reply{}, errNoDraft
	}
	d.take(p.Form)
	return e.showDraft(p, d, nil)
}

// checkDraft starts a dry run of a draft, and redirects to its job.
func (e *Editor) checkDraft(p *Request, d draft) (message.Reply, error) {
	job, err := e.postDraft(p, d, true)
	if err != nil {
		return message.Reply{}, err
	}
	d.Checked = job.ID
	if err := e.Drafts.update(d); err != nil {
		return message.Reply{}, err
	}
	return seeOther(PathJobs + "/" + job.ID), nil
}

// sendDraft imports a draft as it was in the displayed dry run, and redirects to the job.
func (e *Editor) sendDraft(p *Request, d draft) (message.Reply, error) {
	if d.Checked == "" || p.Form.Get("checked") != d.Checked { // another tab may have checked something else
		return e.showDraft(p, d, invalid("import_unchecked"))
	}
	job, err := e.postDraft(p, d, false)
	if err != nil {
		return message.Reply{}, err
	}
	e.Drafts.end(d)
	return seeOther(PathJobs + "/" + job.ID), nil
}

// postDraft starts a job with a draft.
func (e *Editor) postDraft(p *Request, d draft, dry bool) (jobs.Job, error) {
	f, err := d.file()
	if err != nil {
		return jobs.Job{}, err
	}
	defer f.Close()
	u := jobs.Upload{
		Format: d.Kind, DryRun: dry, Overwrite: d.Overwrites &&
			d.Kind != jobs.Rewrite, Note: d.Note, Body: f, Size: d.Bytes,
	}
	if d.isTable() {
		start, err := d.beginning(int64(d.Preview.End))
		if err != nil {
			return jobs.Job{}, err
		}
		head, end := d.Preview.RenameColumns(d.Columns, d.IsData, start)
		if _, err := f.Seek(int64(end), io.SeekStart); err != nil {
			return jobs.Job{}, storingDraft(err)
		}
		u.Body, u.Size = io.MultiReader(bytes.NewReader(head), f), 0
	}
	if !dry { // idempotent: a double click imports once
		u.Key = d.ID
	}
	return e.Service.Accept(p.Context(), p.Actor, u)
}

// showDraft shows a draft, with the error of its mapping.
func (e *Editor) showDraft(p *Request, d draft, failure error) (message.Reply, error) {
	page := draftPage{
		Field: p.Field.HTML(), Path: draftPath(d), Name: d.Name, Bytes: d.Bytes, Note: d.Note, IsData: d.IsData,
		Overwrite: d.Overwrites,
	}
	title := "import.columns_title"
	if d.isTable() {
		page.Columns, page.Groups = d.mapped(), columnGroups(p, targetsOf(d.Columns))
	} else {
		title = "import.lines_title"
		start, err := d.beginning(maxShown)
		if err != nil {
			return message.Reply{}, err
		}
		for line := range bytes.Lines(start) {
			if page.Lines = append(page.Lines,
				plaintext.Shorten(strings.TrimSpace(string(line)), 2*shownValue)); len(page.Lines) == shownRows {
				break
			}
		}
	}
	p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("import.title"), Path: PathImport}}
	page.Error = errorContent(p.Panel.Writer, failure)
	return withErrorStatus(e.show(p, p.Panel.Writer.Text(title), "mapping.html", page), failure), nil
}

func draftPath(d draft) string {
	switch d.Kind {
	case jobs.Rewrite:
		return PathMove + "?draft=" + d.ID
	case kindSelection:
		return pathSelection + "/" + d.ID
	default:
		return PathImport + "/" + d.ID
	}
}
