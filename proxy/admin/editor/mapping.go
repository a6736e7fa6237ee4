package editor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// mappedColumn is a column of a file, with what it is.
type mappedColumn struct {
	Number int
	Field  string // of the form
	Name   string
	Values []string // of the first rows
	Is     string   // one of ours, "" for none
	Member string   // the column of ours that it is as a member of the metadata, by its own name
}

// columnGroup are columns of ours among which one is chosen.
type columnGroup struct {
	Word    string
	Columns []string
}

// memberTitle is the column of the title of what is named.
const memberTitle = "metadata.title"

const (
	shownRows  = 3  // values of a column
	shownValue = 80 // octets of one
	// longestColumn is how many octets the name of a column of ours may have: those of metadata are what somebody has written.
	longestColumn = 300
	// targetsOffered is how many targets of a line are offered, where the file has no more.
	targetsOffered = 3
)

// previewOf returns the beginning of a table, in memory of its own.
func previewOf(text []byte, format bulk.Format) (bulk.Preview, error) {
	p, err := bulk.PreviewTable(text, format, shownRows)
	for i, name := range p.Columns {
		p.Columns[i] = strings.Clone(name)
	}
	for _, row := range p.Rows {
		for i, value := range row {
			row[i] = strings.Clone(pages.Shorten(value, shownValue))
		}
	}
	return p, err
}

// columnGroups returns our columns, with those of so many targets.
func columnGroups(targets int) []columnGroup {
	own, ofTargets := bulk.Columns()
	groups := []columnGroup{{"the name", append(own, memberTitle)}}
	for n := 1; n <= targets; n++ {
		g := columnGroup{Word: "target " + strconv.Itoa(n)}
		for _, column := range ofTargets {
			if n > 1 {
				column += strconv.Itoa(n)
			}
			g.Columns = append(g.Columns, column)
		}
		groups = append(groups, g)
	}
	return groups
}

// targetsOf returns how many targets columns are of, and at least those that are offered.
func targetsOf(columns []string) int {
	most := targetsOffered
	for _, column := range columns {
		digits := column[len(strings.TrimRight(column, "0123456789")):]
		if n, err := strconv.Atoi(digits); err == nil {
			most = max(most, n)
		}
	}
	return min(most, registry.MaxTargets)
}

// guessColumns returns what the columns of a file probably are: by their names, and where no name tells, by their first values.
func guessColumns(p *bulk.Preview) []string {
	guessed, taken := make([]string, len(p.Columns)), make(map[string]bool)
	take := func(i int, column string) {
		if column != "" && guessed[i] == "" && !taken[column] {
			guessed[i], taken[column] = column, true
		}
	}
	for i, column := range namedAsOurs(p.Columns) {
		take(i, column)
	}
	for i, name := range p.Columns {
		take(i, guessOf(name))
	}
	hasNames := taken["name"] || taken["prefix"]
	for i := range p.Columns {
		switch value := firstValue(p, i); {
		case value == "":
		case !hasNames && isName(value):
			take(i, "name")
			hasNames = true
		case !taken["target"] && !taken["targets"] && isWeb(value):
			take(i, "target")
		}
	}
	return guessed
}

// namedAsOurs returns which of ours the columns are by their names, "" for others. A title is that of what is named, and of a target only
// in tables that call targets or metadata as ours do.
func namedAsOurs(names []string) []string {
	isOurs := slices.ContainsFunc(names, func(name string) bool {
		name = strings.ToLower(strings.TrimSpace(name))
		return name == "target" || strings.HasPrefix(name, "metadata")
	})
	columns := make([]string, len(names))
	for i, name := range names {
		if columns[i] = bulk.ColumnNamed(name); columns[i] == "title" && !isOurs {
			columns[i] = memberTitle
		}
	}
	return columns
}

// firstValue returns the first value of a column that there is, "" for none.
func firstValue(p *bulk.Preview, column int) string {
	for _, row := range p.Rows {
		if column < len(row) && strings.TrimSpace(row[column]) != "" {
			return strings.ToLower(strings.TrimSpace(row[column]))
		}
	}
	return ""
}

func isWeb(value string) bool {
	return strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")
}

func isName(value string) bool {
	for _, scheme := range []string{"urn:", "doi:", "hdl:", "ark:", "info:"} {
		if strings.HasPrefix(value, scheme) {
			return true
		}
	}
	return false
}

// guessOf returns what a column is that has another name than ours, as tables of others have them; "" for none.
func guessOf(name string) string {
	word := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "", ".", "").Replace(name))
	for _, known := range [...]struct{ is, words string }{
		{"name", "pid id doi ark handle hdl purl persistentidentifier persistentid tunniste kennung bezeichner identifiant identificador nombre 标识符"},
		{"target", "link links href location landingpage website web ziel linkki lien enlace destination redirectto goto targeturl 链接"},
		{memberTitle, "titel titre titulo título nimi otsikko booktitle worktitle 标题"},
		{"title", "linktext linktitle linklabel"},
		{"type", "mime mimetype mediatype contenttype format medientyp"},
		{"language", "lang sprache langue idioma kieli 语言"},
		{"contact", "mail email emailaddress kontakt owner responsible yhteystiedot contacto"},
		{"status", "state zustand statut estado tila 状态"},
		{"note", "comment comments remark remarks bemerkung kommentar notiz remarque nota huomautus 备注"},
		{"reason", "grund motif motivo syy"},
		{"successors", "successor replacedby supersededby nachfolger"},
		{"alias", "aliasof sameas"},
		{"redirect", "statuscode httpstatus redirecttype"},
		{"if_version", "currentversion"},
	} {
		for one := range strings.FieldsSeq(known.words) {
			if one == word {
				return known.is
			}
		}
	}
	return ""
}

// mapped returns the columns of a draft, as they were said to be.
func (d *draft) mapped() []mappedColumn {
	all := make([]mappedColumn, len(d.preview.Columns))
	for i, name := range d.preview.Columns {
		c := mappedColumn{Number: i + 1, Field: "c" + strconv.Itoa(i), Name: pages.Shorten(name, shownValue), Is: d.columns[i], Member: memberOf(name, i)}
		for _, row := range d.preview.Rows {
			if i < len(row) && row[i] != "" {
				c.Values = append(c.Values, row[i])
			}
		}
		all[i] = c
	}
	return all
}

// memberOf returns the column of ours that a column is as a member of the metadata, "" for the title, which all columns can be.
func memberOf(name string, i int) string {
	member := bulk.ColumnNamed(name)
	if !strings.HasPrefix(member, "metadata.") {
		if name == "" || len(name) > shownValue {
			name = "column " + strconv.Itoa(i+1)
		}
		member = bulk.MemberColumn(name)
	}
	if strings.EqualFold(member, memberTitle) {
		return ""
	}
	return member
}

// checkColumns returns why columns cannot be those of an import, nil where they can.
func checkColumns(columns []string) error {
	seen := make(map[string]int)
	for i, column := range columns {
		if column == "" {
			continue
		}
		if len(column) > longestColumn || bulk.ColumnNamed(column) != column {
			return fmt.Errorf("%w: there is no column %.40q", registry.ErrInvalid, column)
		}
		if before := seen[column]; before > 0 {
			return fmt.Errorf("%w: the columns %d and %d are both the %s: choose another one, such as that of a further target", registry.ErrInvalid, before, i+1, column)
		}
		seen[column] = i + 1
	}
	if seen["name"] == 0 && seen["prefix"] == 0 {
		return fmt.Errorf("%w: no column is the name: say which one is", registry.ErrInvalid)
	}
	return nil
}
