package promise

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// gatherLogs reads the calls of loggers in the source: level, message, and attribute keys in order, including
// keys added conditionally; an ellipsis stands for parts computed elsewhere. For messages with an ellipsis, or
// without such a call, the records written by the daemon are lines as well.
func gatherLogs(t *testing.T, p *program) []string {
	lines := logsOfSource(p.source)
	p.daemon.stop()
	for text := range strings.Lines(p.daemon.log.String()) {
		var record object
		decode(t, text, &record)
		level, message := fmt.Sprint(record["level"]), fmt.Sprint(record["msg"])
		isCalled := func(line string) bool {
			return strings.HasPrefix(line+" ", level+" "+compact(message)+" ") && !strings.HasSuffix(line, "…")
		}
		if level == "DEBUG" || slices.ContainsFunc(lines, isCalled) { // net/http writes some that are not part of urnd
			continue
		}
		delete(record, "time")
		delete(record, "level")
		delete(record, "msg")
		keys := strings.Join(slices.Sorted(maps.Keys(record)), " ")
		lines = append(lines, fmt.Sprintf("written %s %s %s", level, compact(message), keys))
	}
	return lines
}

func logsOfSource(s source) (lines []string) {
	for i := range s {
		for _, file := range s[i].files {
			for _, declaration := range file.Decls {
				f, ok := declaration.(*ast.FuncDecl)
				if !ok || f.Body == nil {
					continue
				}
				ast.Inspect(f.Body, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						lines = append(lines, logCall{s, &s[i], f}.lines(call)...)
					}
					return true
				})
			}
		}
	}
	return lines
}

// logCall is a possible call of a logger.
type logCall struct {
	source source
	in     *sourcePackage
	within *ast.FuncDecl
}

// lines returns the lines of a call, nil if it is not a call of a logger.
func (l logCall) lines(call *ast.CallExpr) (lines []string) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !isLogger(method.X) {
		return nil
	}
	args := call.Args
	name, isContext := strings.CutSuffix(method.Sel.Name, "Context")
	level := strings.ToUpper(name)
	switch name {
	case "Debug", "Info", "Warn", "Error":
		if isContext && len(args) > 0 {
			args = args[1:]
		}
	case "Log", "LogAttrs":
		if len(args) < 3 { // context, level, message
			return nil
		}
		level = "ANY"
		if of := nameOf(args[1]); strings.HasPrefix(of, "Level") {
			level = strings.ToUpper(strings.TrimPrefix(of, "Level"))
		}
		args = args[2:]
	default:
		return nil
	}
	if len(args) == 0 {
		return nil
	}
	keys := l.keys(args[1:])
	for _, message := range l.messages(args[0]) {
		lines = append(lines, strings.TrimSpace(level+" "+compact(message)+" "+strings.Join(keys, " ")))
	}
	return lines
}

// isLogger reports whether an expression is a logger according to its name: log, log(), d.log, log.With(...),
// h.config.Log, l.log.Load().
func isLogger(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		method, isMethod := call.Fun.(*ast.SelectorExpr)
		isOf := isMethod && slices.Contains([]string{"With", "WithGroup", "Load"}, method.Sel.Name)
		function, isFunction := call.Fun.(*ast.Ident)
		return isOf && isLogger(method.X) || isMethod && isLogger(call.Fun) || isFunction && isLogger(function)
	}
	name := strings.ToLower(nameOf(e))
	return strings.HasSuffix(name, "log") || strings.HasSuffix(name, "logger") || name == "slog"
}

// messages returns the possible texts of a message: a constant, the values assigned to a variable in its
// function, or the values passed by callers.
func (l logCall) messages(e ast.Expr) (texts []string) {
	if text, ok := l.in.text(e); ok {
		return []string{text}
	}
	if name, ok := e.(*ast.Ident); ok {
		for _, value := range l.values(name.Name) {
			if text, ok := l.in.text(value); ok {
				texts = append(texts, text)
			}
		}
		texts = append(texts, l.passed(name.Name)...)
	}
	if texts == nil {
		return []string{"…"}
	}
	return texts
}

// values returns the expressions assigned to a variable in the function.
func (l logCall) values(name string) (values []ast.Expr) {
	ast.Inspect(l.within.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Lhs) != len(set.Rhs) {
			return true
		}
		for i, to := range set.Lhs {
			if nameOf(to) == name {
				values = append(values, set.Rhs[i])
			}
		}
		return true
	})
	return values
}

// passed returns the texts that callers pass for a parameter.
func (l logCall) passed(name string) (texts []string) {
	position, at := -1, 0
	for _, field := range l.within.Type.Params.List {
		for _, parameter := range field.Names {
			if parameter.Name == name {
				position = at
			}
			at++
		}
	}
	if position < 0 {
		return nil
	}
	l.source.inspect(func(p *sourcePackage, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != at || nameOf(call.Fun) != l.within.Name.Name {
			return
		}
		if text, ok := p.text(call.Args[position]); ok {
			texts = append(texts, text)
		}
	})
	return texts
}

// keys returns the attribute keys of arguments, which are alternating keys and values, or attributes.
func (l logCall) keys(args []ast.Expr) (keys []string) {
	for i := 0; i < len(args); i++ {
		switch e := args[i].(type) {
		case *ast.CallExpr:
			if key, ok := l.in.text(firstOf(e)); ok && nameOf(e.Fun) != "append" { // slog.String("key", value)
				keys = append(keys, key)
				continue
			}
			keys = append(keys, l.spread(e)...)
			continue
		case *ast.Ident:
			if _, ok := l.in.text(e); !ok {
				keys = append(keys, l.spread(e)...)
				continue
			}
		}
		key, ok := l.in.text(args[i])
		if !ok {
			return append(keys, "…")
		}
		keys = append(keys, key)
		i++
	}
	return keys
}

// spread returns the attribute keys of a list: the initial ones and those appended.
func (l logCall) spread(e ast.Expr) (keys []string) {
	switch e := e.(type) {
	case *ast.Ident:
		for _, value := range l.values(e.Name) {
			keys = append(keys, l.made(value)...)
		}
		if keys != nil {
			return keys
		}
	case *ast.CallExpr:
		if nameOf(e.Fun) == "append" && len(e.Args) > 0 {
			return append(l.spread(e.Args[0]), l.keys(e.Args[1:])...)
		}
	}
	return []string{"…"}
}

// made returns the keys in a value assigned to a variable of attributes.
func (l logCall) made(value ast.Expr) []string {
	switch v := value.(type) {
	case *ast.CompositeLit:
		return l.keys(v.Elts)
	case *ast.CallExpr:
		if nameOf(v.Fun) == "append" && len(v.Args) > 0 { // to itself
			return l.keys(v.Args[1:])
		}
	}
	return []string{"…"}
}

// firstOf returns the first argument of a call, or nil.
func firstOf(call *ast.CallExpr) ast.Expr {
	if len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}
