//! Bound statements → statements that look at fewer rows: conditions go down to scans, scans use indexes, joins are ordered.
