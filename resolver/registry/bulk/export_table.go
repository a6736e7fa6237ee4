package bulk

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
)

// tableExport writes CSV or TSV. Each target has a line; only the first line of a name has what is
// not of a target, but for what tells the version.
type tableExport struct {
	separator byte
	history   bool
	to        *tabular.Writer
	cells     [fieldsEnd]string
}

// columns returns the columns in their order.
func (x *tableExport) columns() []field {
	columns := []field{fieldName, fieldPrefix}
	if x.history {
		columns = append(columns, fieldVersion)
	} else {
		columns = append(columns, fieldIfVersion)
	}
	return append(columns, fieldStatus, fieldSince, fieldReason, fieldSuccessors, fieldAlias,
		fieldURI, fieldType, fieldLanguage, fieldPriority, fieldFrom, fieldUntil, fieldTargetNote, fieldRel, fieldTitle, fieldContext,
		fieldMetadata, fieldContact, fieldRedirect, fieldPattern, fieldAuthoritative, fieldSandbox, fieldChanged, fieldBy, fieldNote)
}

func (x *tableExport) begin(w *bufio.Writer, _ *entries) error {
	x.to = tabular.NewWriter(w, x.separator)
	for f := range fieldsEnd {
		x.cells[f] = columnNames[f]
	}
	return x.write()
}

func (x *tableExport) entry(_ *bufio.Writer, e *registry.Entry) error {
	metadata, err := compact(e.Metadata)
	if err != nil {
		return err
	}
	x.cells = [fieldsEnd]string{
		fieldStatus: e.Status.String(), fieldSince: formatTime(e.Since), fieldReason: e.Reason,
		fieldSuccessors: strings.Join(e.Successors, " "), fieldAlias: e.Alias, fieldMetadata: metadata,
		fieldContact: e.Contact, fieldRedirect: statusText(e.Redirect), fieldPattern: e.Pattern,
		fieldAuthoritative: flag(e.Authoritative), fieldSandbox: flag(e.Sandbox),
		fieldBy: e.By, fieldNote: e.Note,
	}
	for i := range max(len(e.Targets), 1) {
		x.cells[fieldName], x.cells[fieldPrefix] = e.Name, flag(e.Kind == registry.KindPrefix)
		version := strconv.Itoa(e.Version)
		x.cells[fieldVersion], x.cells[fieldIfVersion], x.cells[fieldChanged] = version, version, formatTime(e.Changed)
		if len(e.Targets) > 0 {
			x.target(e.Targets[i])
		}
		if err := x.write(); err != nil {
			return err
		}
		x.cells = [fieldsEnd]string{fieldStatus: e.Status.String()}
	}
	return nil
}

func (x *tableExport) target(t registry.Target) {
	x.cells[fieldURI], x.cells[fieldType], x.cells[fieldLanguage] = t.URI, t.Type, t.Language
	if t.Priority != 0 {
		x.cells[fieldPriority] = strconv.Itoa(t.Priority)
	}
	x.cells[fieldFrom], x.cells[fieldUntil], x.cells[fieldTargetNote] = formatTime(t.From), formatTime(t.Until), t.Note
	x.cells[fieldRel], x.cells[fieldTitle], x.cells[fieldContext] = t.Rel, t.Title, t.Context
}

// statusText returns a status of HTTP, "" for none.
func statusText(status int) string {
	if status == 0 {
		return ""
	}
	return strconv.Itoa(status)
}

func flag(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// write writes a line.
func (x *tableExport) write() error {
	columns := x.columns()
	row := make([]string, len(columns))
	for i, f := range columns {
		row[i] = x.cells[f]
	}
	return x.to.Write(row...)
}

func (x *tableExport) end(*bufio.Writer) error { return x.to.Flush() }
