package editor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// PathImport is where many names are imported.
const PathImport = "/registry/import"

const pathDraft = PathImport + "/{id}"

// maxImport is how many octets a file has that is sent by a form.
const maxImport = 16 << 20

// importPage is what the page shows by which a file is sent.
type importPage struct {
	Field                     pages.Content
	Fault, Done, Text, Format string
	Encoding                  string
	Encodings                 []string
	Draft                     string // the path of the draft that there is, "" for none
	MiB                       int
}

// encodings are those that are offered: what programs of today and of before save tables in. Jobs take others, too.
func encodings() []string {
	return []string{
		"utf-8", "utf-16le", "utf-16be", "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15",
		"macintosh", "ibm866", "koi8-r", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr",
	}
}

// importDone are what was done before the page is shown.
func importDone(word string) string {
	if word == "discarded" {
		return "The file was discarded. Nothing was changed."
	}
	return ""
}

// serveImport shows the form by which a file is sent, and takes it.
func (e *Editor) serveImport(p *Request) (message.Reply, error) {
	page := importPage{Field: p.Field.HTML(), Done: importDone(p.URL.Query().Get("done")), Encodings: encodings(), MiB: maxImport >> 20}
	if d, ok := e.Drafts.of(p); ok && p.Method != http.MethodPost {
		page.Draft = draftPath(d)
	}
	if p.Method != http.MethodPost {
		return e.show(p, "Import", "import.html", page), nil
	}
	d, err := draftOf(p)
	if err == nil {
		var id string
		if id, err = e.Drafts.begin(p, d); err == nil {
			return seeOther(PathImport + "/" + id), nil
		}
	}
	status := problem.Status(err)
	if status >= http.StatusInternalServerError {
		return message.Reply{}, err
	}
	page.Fault, page.Format, page.Encoding = saidOf(err), p.Form.Get("format"), p.Form.Get("encoding")
	if text := p.Form.Get("text"); len(text) <= 4<<10 {
		page.Text = text
	}
	reply := e.show(p, "Import", "import.html", page)
	reply.Status = status
	return reply, nil
}

// draftOf returns what a form has sent.
func draftOf(p *Request) (d draft, err error) {
	text, name, err := sentFile(p)
	if err != nil {
		return d, err
	}
	format, err := bulk.ParseFormat(p.Form.Get("format"))
	if err != nil {
		return d, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	if format == bulk.Detect {
		format = bulk.FormatOf(name)
	}
	of, err := charset.Parse(p.Form.Get("encoding"))
	if err != nil {
		return d, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	if text, err = bulk.Decode(text, of); err == nil {
		err = checkSize(int64(len(text)))
	}
	if err != nil {
		return d, err
	}
	start := bytes.TrimLeft(text, " \t\r\n")
	if format == bulk.Detect && bytes.HasPrefix(start, []byte("{")) {
		format = bulk.NDJSON
	}
	d = draft{name: name, text: text}
	switch format {
	case bulk.NDJSON:
		d.kind = bulk.NDJSON
		if len(start) == 0 {
			err = fmt.Errorf("%w: there is nothing in it", registry.ErrInvalid)
		}
		return d, err
	case bulk.TSV:
		d.kind = bulk.TSV
	case bulk.CSV, bulk.Detect:
		d.kind = bulk.CSV
	default:
		return d, fmt.Errorf("%w: files of the format %s are imported by the command urnd registry import", registry.ErrInvalid, format)
	}
	if d.preview, err = previewOf(text, format); err != nil {
		return d, err
	}
	d.columns = guessColumns(&d.preview)
	return d, nil
}

// sentFile returns the file that a form has sent, with its name, or the text that was typed.
func sentFile(p *Request) (text []byte, name string, err error) {
	typed := p.Form.Get("text")
	if p.MultipartForm == nil || len(p.MultipartForm.File["file"]) == 0 || p.MultipartForm.File["file"][0].Filename == "" {
		if strings.TrimSpace(typed) == "" {
			return nil, "", fmt.Errorf("%w: choose a file, or paste lines", registry.ErrInvalid)
		}
		return []byte(typed), "", checkSize(int64(len(typed)))
	}
	if strings.TrimSpace(typed) != "" {
		return nil, "", fmt.Errorf("%w: there are a file and pasted lines: send one of them", registry.ErrInvalid)
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
	return text, pages.Shorten(strings.ToValidUTF8(header.Filename, "\ufffd"), 200), nil
}

func checkSize(octets int64) error {
	if octets > maxImport {
		return fmt.Errorf("%w: the file has %d octets, and by this page at most %d MiB are sent: send a larger one by the API (POST /api/v1/jobs), or import it by "+
			"the command urnd registry import", problem.ErrDocumentSize, octets, maxImport>>20)
	}
	return nil
}

// draftPage is what the page shows by which columns are mapped.
type draftPage struct {
	Field         pages.Content
	Path          string
	Name          string
	Octets        int
	Columns       []mappedColumn
	Groups        []columnGroup
	Lines         []string // of what is no table
	Note, Checked string
	IsData        bool
	Overwrite     bool
	Fault         string
}

// serveDraft shows what was sent, with what its columns are, and has it checked, imported or forgotten.
func (e *Editor) serveDraft(p *Request) (message.Reply, error) {
	d, ok := e.Drafts.of(p)
	if !ok || d.id != p.ID || d.kind == jobs.Rewrite {
		return e.showNoDraft(p), nil
	}
	if p.Method != http.MethodPost {
		return e.showDraft(p, d, nil), nil
	}
	switch p.Form.Get("do") {
	case "discard":
		e.Drafts.end(d)
		return seeOther(PathImport + "?done=discarded"), nil
	case "import":
		return e.sendDraft(p, d)
	}
	d.note, d.isData = strings.TrimSpace(p.Form.Get("note")), p.Form.Get("data") != ""
	for i := range d.columns {
		d.columns[i] = p.Form.Get("c" + strconv.Itoa(i))
	}
	var err error
	if d.isTable() {
		err = checkColumns(d.columns)
	}
	if fault := registry.CheckText("note", d.note, registry.MaxText); err == nil && fault != nil {
		err = fmt.Errorf("%w: %w", registry.ErrInvalid, fault)
	}
	if err != nil {
		return e.showDraft(p, d, err), nil
	}
	return e.checkDraft(p, d)
}

// checkDraft has a dry run made of a draft, and leads to it.
func (e *Editor) checkDraft(p *Request, d draft) (message.Reply, error) {
	d.overwrites = p.Form.Get("overwrite") != ""
	job, err := e.postDraft(p, d, true)
	if err != nil {
		return message.Reply{}, err
	}
	d.checked = job.ID
	e.Drafts.keep(d)
	return seeOther(PathJobs + "/" + job.ID), nil
}

// sendDraft has a draft imported as it was in the dry run that was seen, and leads to the job.
func (e *Editor) sendDraft(p *Request, d draft) (message.Reply, error) {
	if d.checked == "" || p.Form.Get("checked") != d.checked { // or another tab has had something else checked
		return e.showDraft(p, d, fmt.Errorf("%w: see first what it would change", registry.ErrInvalid)), nil
	}
	job, err := e.postDraft(p, d, false)
	if err != nil {
		return message.Reply{}, err
	}
	e.Drafts.end(d)
	return seeOther(PathJobs + "/" + job.ID), nil
}

// postDraft has a draft done in the background.
func (e *Editor) postDraft(p *Request, d draft, isDry bool) (jobs.Job, error) {
	u := jobs.Upload{
		Format: d.kind, DryRun: isDry, Overwrite: d.overwrites && d.kind != jobs.Rewrite, Note: d.note,
		Body: bytes.NewReader(d.text), Octets: int64(len(d.text)),
	}
	if d.isTable() {
		head, end := d.preview.Renamed(d.columns, d.isData, d.text)
		u.Body, u.Octets = io.MultiReader(bytes.NewReader(head), bytes.NewReader(d.text[end:])), 0
	}
	if !isDry { // whoever clicks twice imports once
		u.Key = d.id
	}
	return e.Service.Accept(p.Context(), p.Actor, u)
}

// showDraft shows a draft, with what is wrong in what was said of it.
func (e *Editor) showDraft(p *Request, d draft, fault error) message.Reply {
	page := draftPage{
		Field: p.Field.HTML(), Path: draftPath(d), Name: d.name, Octets: len(d.text), Note: d.note, Checked: d.checked, IsData: d.isData,
		Overwrite: p.Form.Get("overwrite") != "" || p.Form == nil && d.overwrites,
	}
	if d.isTable() {
		page.Columns, page.Groups = d.mapped(), columnGroups(targetsOf(d.columns))
	} else {
		for line := range bytes.Lines(d.text) {
			if page.Lines = append(page.Lines, pages.Shorten(strings.TrimSpace(string(line)), 2*shownValue)); len(page.Lines) == shownRows {
				break
			}
		}
	}
	p.Panel.Above = []pages.Item{{Word: "Import", Path: PathImport}}
	title := "What the columns are"
	if !d.isTable() {
		title = "What is imported"
	}
	if fault != nil {
		page.Fault = saidOf(fault)
	}
	reply := e.show(p, title, "mapping.html", page)
	if fault != nil {
		reply.Status = problem.Status(fault)
	}
	return reply
}

// showNoDraft says that what somebody has sent is not here any more.
func (e *Editor) showNoDraft(p *Request) message.Reply {
	reply := e.show(p, "Import", "import.html", importPage{Field: p.Field.HTML(), Fault: saidOf(errNoDraft), Encodings: encodings(), MiB: maxImport >> 20})
	reply.Status = http.StatusGone
	return reply
}

func draftPath(d draft) string {
	if d.kind == jobs.Rewrite {
		return PathMove
	}
	return PathImport + "/" + d.id
}

// saidOf returns an error in words, without those of the class that it is of.
func saidOf(err error) string {
	said := err.Error()
	for _, class := range []error{registry.ErrInvalid, registry.ErrUnknown} {
		if errors.Is(err, class) {
			said = strings.TrimPrefix(said, class.Error()+": ")
		}
	}
	r := []rune(said)
	return strings.ToUpper(string(r[0])) + string(r[1:]) + "."
}
