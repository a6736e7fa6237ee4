package pages

// statusSentences are the statuses of HTTP: RFC 9110 section 15, as net/http words them.
func statusSentences() []sentence {
	return []sentence{
		{"Bad Request", "Ungültige Anfrage", "Requête incorrecte", "Petición incorrecta", "错误的请求"},
		{"Unauthorized", "Nicht angemeldet", "Non authentifié", "No autenticado", "未经授权"},
		{"Forbidden", "Nicht erlaubt", "Interdit", "Prohibido", "禁止访问"},
		{"Not Found", "Nicht gefunden", "Introuvable", "No encontrado", "未找到"},
		{"Method Not Allowed", "Methode nicht erlaubt", "Méthode non autorisée", "Método no permitido", "不允许使用此方法"},
		{"Not Acceptable", "Nicht annehmbar", "Non acceptable", "No aceptable", "无法接受"},
		{"Proxy Authentication Required", "Anmeldung am Proxy nötig", "Authentification auprès du proxy requise", "Autenticación en el proxy necesaria", "需要代理身份验证"},
		{"Request Timeout", "Zeit für die Anfrage abgelaufen", "Délai de la requête dépassé", "Tiempo de la petición agotado", "请求超时"},
		{"Conflict", "Konflikt", "Conflit", "Conflicto", "冲突"},
		{"Gone", "Nicht mehr vorhanden", "Disparu", "Ya no existe", "已不存在"},
		{"Precondition Failed", "Vorbedingung nicht erfüllt", "Condition préalable non remplie", "Condición previa no cumplida", "未满足前提条件"},
		{"Request Entity Too Large", "Inhalt zu groß", "Contenu trop grand", "Contenido demasiado grande", "内容过大"},
		{"Request URI Too Long", "Adresse zu lang", "Adresse trop longue", "Dirección demasiado larga", "地址过长"},
		{"Unsupported Media Type", "Medientyp nicht unterstützt", "Type de média non pris en charge", "Tipo de medio no admitido", "不支持的媒体类型"},
		{"Expectation Failed", "Erwartung nicht erfüllbar", "Attente impossible à satisfaire", "Expectativa imposible de cumplir", "无法满足期望"},
		{"Misdirected Request", "Fehlgeleitete Anfrage", "Requête mal dirigée", "Petición mal dirigida", "请求被误导"},
		{"Unprocessable Entity", "Inhalt nicht verarbeitbar", "Contenu impossible à traiter", "Contenido no procesable", "无法处理的内容"},
		{"Precondition Required", "Vorbedingung nötig", "Condition préalable requise", "Condición previa necesaria", "需要前提条件"},
		{"Too Many Requests", "Zu viele Anfragen", "Trop de requêtes", "Demasiadas peticiones", "请求过多"},
		{"Request Header Fields Too Large", "Felder der Anfrage zu groß", "Champs de la requête trop grands", "Campos de la petición demasiado grandes", "请求头字段过大"},
		{"Internal Server Error", "Interner Fehler des Servers", "Erreur interne du serveur", "Error interno del servidor", "服务器内部错误"},
		{"Not Implemented", "Nicht unterstützt", "Non pris en charge", "No admitido", "不支持"},
		{"Bad Gateway", "Keine brauchbare Antwort", "Pas de réponse utilisable", "Sin respuesta utilizable", "网关错误"},
		{"Service Unavailable", "Gerade nicht verfügbar", "Indisponible pour le moment", "No disponible ahora", "服务暂不可用"},
		{"Gateway Timeout", "Keine rechtzeitige Antwort", "Pas de réponse à temps", "Sin respuesta a tiempo", "网关超时"},
		{"HTTP Version Not Supported", "Version von HTTP nicht unterstützt", "Version de HTTP non prise en charge", "Versión de HTTP no admitida", "不支持此 HTTP 版本"},
		{"Loop Detected", "Schleife erkannt", "Boucle détectée", "Bucle detectado", "检测到循环"},
	}
}
