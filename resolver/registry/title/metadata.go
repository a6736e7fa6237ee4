package title

import "strings"

// The names of well-known parts of metadata: those of form fields and import columns.
const (
	Title    = "title"
	Creator  = "creator"
	Year     = "year"
	Keywords = "keywords"
)

// Part is a part of the metadata of a resource.
type Part struct {
	Name string
	// Member is the metadata member that forms and imports write. Members are those that are read, in order
	// of preference, case-insensitively.
	Member  string
	Members []string
	// Columns are its column names in tables, in English, German, French, Spanish and Chinese: see FindPart.
	Columns string
	// MultiValued means that it has several values, which a form shows one per line. List means that even a single
	// value is written as a list.
	MultiValued, List bool
}

// Parts returns the parts of metadata with fields of their own, in the order of a form.
func Parts() []Part {
	return []Part{
		{
			Name: Title, Member: "title", Members: Members(),
			Columns: "title titel titre título titulo 题名 标题 书名",
		},
		{
			Name: Creator, Member: "creator", Members: CreatorMembers(), MultiValued: true,
			Columns: "creator creators author authors urheber urheberin autor autorin autoren verfasser verfasserin " +
				"auteur auteurs autrice créateur créateurs autora autores creador creadores 作者 著者 责任者 创作者",
		},
		{
			Name: Year, Member: "year", Members: YearMembers(),
			Columns: "year date publicationyear yearofpublication publicationdate issued published jahr " +
				"erscheinungsjahr publikationsjahr datum erscheinungsdatum " +
				"année annee annéedepublication datedepublication año ano añodepublicación fecha fechadepublicación " +
				"年 年份 年代 出版年 出版年份 出版日期 日期",
		},
		{
			// Searches and lists of names use the member "tags".
			Name: Keywords, Member: "tags", Members: KeywordMembers(), MultiValued: true, List: true,
			Columns: "keywords keyword tags tag subjects subject schlagwörter schlagwort schlagworte stichwörter " +
				"stichworte schlüsselwörter " +
				"motsclés motsclé motscles sujets sujet étiquettes palabrasclave palabraclave etiquetas materias " +
				"关键词 关键字 主题词 主题 标签",
		},
	}
}

// FindPart returns the part for the name of a table column, such as "Author" or "Mots-clés"; ok is false for
// other columns.
func FindPart(column string) (part Part, ok bool) {
	word := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "", ".", "", "\u00a0",
		"").Replace(strings.TrimSpace(column)))
	for _, part = range Parts() {
		for known := range strings.FieldsSeq(part.Columns) {
			if known == word {
				return part, true
			}
		}
	}
	return Part{}, false
}

// HasMember reports whether a metadata member belongs to the part.
func (p *Part) HasMember(member string) bool {
	for _, known := range p.Members {
		if strings.EqualFold(known, member) {
			return true
		}
	}
	return false
}

// Members returns the metadata members of titles, in order of preference; they are compared
// case-insensitively. Those with a dot and those of an ERC are written by imports: elements such as dc.title
// and erc.who are of NOID and EZID, publicationYear is of DataCite, tags of Shlink.
func Members() []string {
	return []string{"title", "name", "dc.title", "datacite.title", "erc.what", "what"}
}

// CreatorMembers returns the metadata members of creators.
func CreatorMembers() []string {
	return []string{"creators", "creator", "authors", "author", "dc.creator", "datacite.creator", "erc.who", "who"}
}

// YearMembers returns the metadata members of the date of publication.
func YearMembers() []string {
	return []string{
		"issued", "date", "datePublished", "published", "publicationYear", "year", "dc.date",
		"datacite.publicationyear", "erc.when", "when",
	}
}

// KeywordMembers returns the metadata members of subjects.
func KeywordMembers() []string {
	return []string{"keywords", "keyword", "subjects", "subject", "tags", "dc.subject"}
}
