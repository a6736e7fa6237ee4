package adversary

func faults(s *stage) []payload   { return nil }
func random(s *stage) []payload   { return nil }
