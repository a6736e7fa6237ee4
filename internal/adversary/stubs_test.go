package adversary

func floods(s *stage) []payload   { return nil }
func faults(s *stage) []payload   { return nil }
func random(s *stage) []payload   { return nil }
