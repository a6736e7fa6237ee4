package editor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/title"
)

// mappedColumn is a column of a file, with its mapping.
type mappedColumn struct {
	Number int
	Field  string // name of the form field
	Name   string
	Values []string // of the first rows
	Column string   // column of urnd, "" for none
	Member string   // the metadata column of urnd with the name of this column
}

// columnGroup is a group of columns of urnd in a select element.
type columnGroup struct {
	Label   string
	Columns []string
}

// memberTitle is the column of the title of the named object.
const memberTitle = "metadata.title"

const (
	shownRows  = 3  // values of a column
	shownValue = 80 // bytes of a value
	// longestColumn limits the name of a column of urnd, in bytes: names of metadata columns are user input.
	longestColumn = 300
	// targetsOffered is the number of targets per record that are offered at least.
	targetsOffered = 3
)

// previewOf returns the beginning of a table, without references to text.
func previewOf(text []byte, format bulk.Format) (bulk.Preview, error) {
	p, err := bulk.PreviewTable(text, format, shownRows)
	for i, name := range p.Columns {
		p.Columns[i] = strings.Clone(name)
	}
	for _, row := range p.Rows {
		for i, value := range row {
			row[i] = strings.Clone(plaintext.Shorten(value, shownValue))
		}
	}
	return p, err
}

// columnGroups returns the columns of urnd, with those of a number of targets.
func columnGroups(p *Request, targets int) []columnGroup {
	own, ofTargets := bulk.Columns()
	for _, part := range title.Parts() {
		own = append(own, bulk.MemberColumn(part.Member))
	}
	groups := []columnGroup{{p.Panel.Writer.Text("import.group_name"), own}}
	for n := 1; n <= targets; n++ {
		g := columnGroup{Label: p.Panel.Writer.Text("import.group_target", "Number", n)}
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

// targetsOf returns the number of targets in columns, at least targetsOffered.
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

// guessColumns returns the probable mapping of the columns of a file: by their names, otherwise by their
// first values.
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

// namedAsOurs returns the mapping of columns by the names that urnd uses, "" for others. "title" is the title
// of a target only in tables that name targets or metadata as urnd does; otherwise it is that of the named
// object.
func namedAsOurs(names []string) []string {
	ours := slices.ContainsFunc(names, func(name string) bool {
		name = strings.ToLower(strings.TrimSpace(name))
		return name == "target" || strings.HasPrefix(name, "metadata")
	})
	columns := make([]string, len(names))
	for i, name := range names {
		if columns[i] = bulk.FindColumn(name); columns[i] == "title" && !ours {
			columns[i] = memberTitle
		}
	}
	return columns
}

// firstValue returns the first non-empty value of a column in lower case, "" for none.
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

// guessOf returns the mapping of a column by names that other tables use; "" for none.
func guessOf(name string) string {
	if part, ok := title.FindPart(name); ok {
		return bulk.MemberColumn(part.Member)
	}
	word := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "", ".", "", "\u00a0", "").Replace(name))
	for _, known := range knownColumns() {
		for one := range strings.FieldsSeq(known.words) {
			if one == word {
				return known.is
			}
		}
	}
	return ""
}

// knownColumn is a column of urnd with the names that other tables use for it.
type knownColumn struct{ is, words string }

// knownColumns returns names in English, German, French, Spanish, Chinese and Finnish. Those of parts of the
// metadata are in title.Parts.
func knownColumns() []knownColumn {
	return []knownColumn{
		{
			"name",
			"pid id doi ark handle hdl purl persistentidentifier persistentid kennung bezeichner identifikator " +
				"identifiant identifiantpérenne nom " +
				"identificador identificadorpersistente nombre 标识符 标识 名称 永久标识符 tunniste",
		},
		{
			"target",
			"link links href location address landingpage website web redirectto goto targeturl destination ziel " +
				"adresse zieladresse webadresse " +
				"cible lien adresseweb destino enlace dirección direcciónweb 链接 网址 目标 地址 linkki",
		},
		{memberTitle, "booktitle worktitle werktitel buchtitel titredulivre títulodellibro nimi otsikko"},
		{"title", "linktext linktitle linklabel linktitel titredulien textodelenlace 链接文字 链接标题"},
		{
			"type",
			"mime mimetype mediatype contenttype format medientyp dateityp typ typedemédia tipo tipodecontenido " +
				"formato 类型 媒体类型 格式",
		},
		{"language", "lang sprache langue idioma lengua 语言 语种 kieli"},
		{
			"contact",
			"mail email emailaddress owner responsible kontakt ansprechpartner mailadresse courriel contacto correo " +
				"correoelectrónico 联系方式 联系人 电子邮件 邮箱 yhteystiedot",
		},
		{"status", "state zustand statut état estado situación 状态 tila"},
		{
			"note",
			"comment comments remark remarks bemerkung kommentar notiz anmerkung remarque commentaire nota " +
				"comentario observaciones 备注 注释 说明 huomautus",
		},
		{"reason", "grund begründung motif raison motivo razón 原因 理由 syy"},
		{
			"successors",
			"successor replacedby supersededby nachfolger ersetztdurch successeur remplacépar sucesor " +
				"reemplazadopor 继任者 替代者 后继",
		},
		{"alias", "aliasof sameas aliasvon aliasde 别名"},
		{"redirect", "statuscode httpstatus redirecttype weiterleitung redirection redirección 重定向"},
		{"if_version", "currentversion"},
	}
}

// mapped returns the columns of a draft with their mapping.
func (d *draft) mapped() []mappedColumn {
	all := make([]mappedColumn, len(d.Preview.Columns))
	for i, name := range d.Preview.Columns {
		c := mappedColumn{
			Number: i + 1, Field: "c" + strconv.Itoa(i), Name: plaintext.Shorten(name, shownValue),
			Column: d.Columns[i], Member: memberOf(name, i),
		}
		for _, row := range d.Preview.Rows {
			if i < len(row) && row[i] != "" {
				c.Values = append(c.Values, row[i])
			}
		}
		all[i] = c
	}
	return all
}

// memberOf returns the metadata column for a column of a file, "" if columnGroups has it already.
func memberOf(name string, i int) string {
	member := bulk.FindColumn(name)
	if !strings.HasPrefix(member, "metadata.") {
		if name == "" || len(name) > shownValue {
			name = "column " + strconv.Itoa(i+1)
		}
		member = bulk.MemberColumn(name)
	}
	isPart := func(part title.Part) bool { return member == bulk.MemberColumn(part.Member) }
	if strings.EqualFold(member, memberTitle) || slices.ContainsFunc(title.Parts(), isPart) {
		return ""
	}
	return member
}

// checkColumns returns an error if columns cannot be imported.
func checkColumns(columns []string) error {
	seen := make(map[string]int)
	for i, column := range columns {
		if column == "" {
			continue
		}
		if len(column) > longestColumn || bulk.FindColumn(column) != column {
			return invalid("import_no_column", "Column", plaintext.Shorten(column, shownValue))
		}
		if before := seen[column]; before > 0 {
			return invalid("import_column_twice", "First", strconv.Itoa(before), "Second", strconv.Itoa(i+1),
				"Column", column)
		}
		seen[column] = i + 1
	}
	if seen["name"] == 0 && seen["prefix"] == 0 {
		return invalid("import_no_name")
	}
	return nil
}
