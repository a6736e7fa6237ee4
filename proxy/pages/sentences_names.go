package pages

// nameSentences are about names, and what servers of other protocols have.
func nameSentences() []sentence {
	return []sentence{
		{"resource", "Ressource", "ressource", "recurso", "资源"},
		{"file or directory", "Datei oder Verzeichnis", "fichier ou répertoire", "archivo o directorio", "文件或目录"},
		{"document or menu", "Dokument oder Menü", "document ou menu", "documento o menú", "文档或菜单"},
		{"article or newsgroup", "Artikel oder Newsgroup", "article ou groupe de discussion", "artículo o grupo de noticias", "文章或新闻组"},
		{"document or database", "Dokument oder Datenbank", "document ou base de données", "documento o base de datos", "文档或数据库"},

		{"no rule for this name", "keine Regel für diesen Namen", "pas de règle pour ce nom", "no hay regla para este nombre", "没有适用于此名称的规则"},
		{"name not found", "Name nicht gefunden", "nom introuvable", "nombre no encontrado", "未找到名称"},
		{"name is gone", "der Name ist nicht mehr in Gebrauch", "le nom n’est plus en usage", "el nombre ya no está en uso", "名称已不再使用"},
		{"service not offered", "dieser Dienst wird nicht angeboten", "ce service n’est pas offert", "este servicio no se ofrece", "不提供此服务"},
		{"source unreachable", "die Quelle ist nicht erreichbar", "la source ne peut pas être jointe", "no se puede acceder a la fuente", "无法访问来源"},
		{
			"too many requests are running", "es laufen zu viele Anfragen", "trop de requêtes sont en cours", "hay demasiadas peticiones en curso",
			"正在处理的请求过多",
		},
		{"destination not allowed", "dieses Ziel ist nicht erlaubt", "cette destination n’est pas autorisée", "este destino no está permitido", "不允许访问此目标"},
		{"the name is not registered", "der Name ist nicht registriert", "le nom n’est pas enregistré", "el nombre no está registrado", "此名称未登记"},
		{"the name has no location", "der Name hat keinen Ort", "le nom n’a pas d’emplacement", "el nombre no tiene ubicación", "此名称没有位置"},
		{
			"no other name of this resource is known", "kein anderer Name dieser Ressource ist bekannt", "aucun autre nom de cette ressource n’est connu",
			"no se conoce otro nombre de este recurso", "没有已知的此资源的其他名称",
		},
		{
			"the registry is not asked for it", "das Register wird danach nicht gefragt", "le registre n’est pas interrogé à ce sujet",
			"no se pregunta por él al registro", "不向登记处查询它",
		},
		{
			"the registry has no other name of it", "das Register hat keinen anderen Namen dafür", "le registre n’en a pas d’autre nom",
			"el registro no tiene otro nombre para él", "登记处没有它的其他名称",
		},
		{
			"the registry has no further description", "das Register hat keine weitere Beschreibung", "le registre n’a pas d’autre description",
			"el registro no tiene más descripción", "登记处没有更多描述",
		},
		{
			"its location would be too long with this query", "mit dieser Abfrage wäre sein Ort zu lang", "avec cette requête, son emplacement serait trop long",
			"con esta consulta su ubicación sería demasiado larga", "加上此查询后其位置会过长",
		},
		{
			"there is no service of this name in RFC 2483", "RFC 2483 hat keinen Dienst dieses Namens", "le RFC 2483 n’a pas de service de ce nom",
			"el RFC 2483 no tiene ningún servicio con este nombre", "RFC 2483 中没有此名称的服务",
		},
		{
			"there is no service of this name in RFC 2169 or RFC 2483", "RFC 2169 und RFC 2483 haben keinen Dienst dieses Namens",
			"ni le RFC 2169 ni le RFC 2483 n’ont de service de ce nom", "ni el RFC 2169 ni el RFC 2483 tienen un servicio con este nombre",
			"RFC 2169 和 RFC 2483 中没有此名称的服务",
		},
	}
}
