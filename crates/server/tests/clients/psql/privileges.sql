-- Before version 15, psql asks for policies with `text || "char"`, which a server from version 15 on refuses.
CREATE TABLE owner (id int);
\dp owner
