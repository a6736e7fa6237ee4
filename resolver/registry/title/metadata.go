package title

import "strings"

// The parts of metadata that people know by name. They are the names of fields of forms and of columns of imports.
const (
	Title    = "title"
	Creator  = "creator"
	Year     = "year"
	Keywords = "keywords"
)

// Part is a part of the metadata of what is named.
type Part struct {
	Name string
	// Member is the member of the metadata that forms and imports write, and Members are those that are read, in the order in which they are
	// preferred. They are compared without case.
	Member  string
	Members []string
	// Columns are the names by which tables have it, in English, German, French, Spanish and Chinese: see Column.
	Columns string
	// Many is whether it has several values, as a form shows it a line each. List is whether one of them is written as a list as well.
	Many, List bool
}

// Parts returns the parts of metadata that have fields of their own, in the order of a form.
func Parts() []Part {
	return []Part{
		{
			Name: Title, Member: "title", Members: Members(),
			Columns: "title titel titre título titulo 题名 标题 书名",
		},
		{
			Name: Creator, Member: "creator", Members: CreatorMembers(), Many: true,
			Columns: "creator creators author authors urheber urheberin autor autorin autoren verfasser verfasserin auteur auteurs autrice créateur créateurs " +
				"autora autores creador creadores 作者 著者 责任者 创作者",
		},
		{
			Name: Year, Member: "year", Members: YearMembers(),
			Columns: "year date publicationyear yearofpublication publicationdate issued published jahr erscheinungsjahr publikationsjahr datum erscheinungsdatum " +
				"année annee annéedepublication datedepublication año ano añodepublicación fecha fechadepublicación 年 年份 年代 出版年 出版年份 出版日期 日期",
		},
		{
			// Searches and lists of names find what is in "tags".
			Name: Keywords, Member: "tags", Members: KeywordMembers(), Many: true, List: true,
			Columns: "keywords keyword tags tag subjects subject schlagwörter schlagwort schlagworte stichwörter stichworte schlüsselwörter " +
				"motsclés motsclé motscles sujets sujet étiquettes palabrasclave palabraclave etiquetas materias 关键词 关键字 主题词 主题 标签",
		},
	}
}

// PartOf returns the part that a column of a table is by its name, such as "Author" or "Mots-clés"; ok is false for others.
func PartOf(column string) (part Part, ok bool) {
	word := strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "", ".", "", "\u00a0", "").Replace(strings.TrimSpace(column)))
	for _, part = range Parts() {
		for known := range strings.FieldsSeq(part.Columns) {
			if known == word {
				return part, true
			}
		}
	}
	return Part{}, false
}

// Is reports whether a member of metadata is of the part.
func (p *Part) Is(member string) bool {
	for _, known := range p.Members {
		if strings.EqualFold(known, member) {
			return true
		}
	}
	return false
}

// Members returns the members of metadata that have the title, in the order in which they are preferred. They are compared without case. Those
// with a dot or of an ERC are what imports write: elements such as dc.title and erc.who are of NOID and EZID, publicationYear is of DataCite,
// tags of Shlink.
func Members() []string {
	return []string{"title", "name", "dc.title", "datacite.title", "erc.what", "what"}
}

// CreatorMembers returns those that have who has made it.
func CreatorMembers() []string {
	return []string{"creators", "creator", "authors", "author", "dc.creator", "datacite.creator", "erc.who", "who"}
}

// YearMembers returns those that have when it was published.
func YearMembers() []string {
	return []string{"issued", "date", "datePublished", "published", "publicationYear", "year", "dc.date", "datacite.publicationyear", "erc.when", "when"}
}

// KeywordMembers returns those that have what it is about.
func KeywordMembers() []string {
	return []string{"keywords", "keyword", "subjects", "subject", "tags", "dc.subject"}
}
