// The JDBC driver: batches, prepared statements (on the server after five uses), metadata, cursors, savepoints, COPY.

import java.io.StringReader;
import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

public class JdbcClient {
    interface Check { void run(Connection connection) throws Exception; }

    static String url(String extra) {
        return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE")
            + "?user=" + System.getenv("PGUSER") + extra;
    }

    static void check(Object found, Object expected) {
        if (!Objects.equals(found, expected)) throw new AssertionError(found + " is not " + expected);
    }

    static PSQLException fails(String state, Check check, Connection connection) throws Exception {
        try {
            check.run(connection);
        } catch (PSQLException error) {
            check(error.getSQLState(), state);
            return error;
        }
        throw new AssertionError(state + " was not raised");
    }

    static String rows(ResultSet set) throws SQLException {
        StringJoiner rows = new StringJoiner(" ");
        while (set.next()) {
            StringJoiner row = new StringJoiner(",");
            for (int i = 1; i <= set.getMetaData().getColumnCount(); i++) row.add(String.valueOf(set.getObject(i)));
            rows.add(row.toString());
        }
        return rows.toString();
    }

    static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet set = statement.executeQuery(sql)) {
            return rows(set);
        }
    }

    static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static void valuesComeBack(Connection connection) throws Exception {
        String sql = "SELECT ?::int, ?::bigint, ?::text, ?::bool, ?::float8, ?::numeric, ?::date, ?::timestamp, ?::timestamptz, "
            + "?::uuid, ?::bytea, ?::time, ?::int[], ?::smallint, ?::real";
        UUID uuid = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
        for (int round = 0; round < 10; round++) {
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setInt(1, -5);
                statement.setLong(2, Long.MAX_VALUE);
                statement.setString(3, "it's \u20ac");
                statement.setBoolean(4, true);
                statement.setDouble(5, 0.1);
                statement.setBigDecimal(6, new BigDecimal("12345678901234567890.1200"));
                statement.setObject(7, LocalDate.of(2024, 2, 29));
                statement.setObject(8, LocalDateTime.of(2024, 2, 29, 1, 2, 3, 4000));
                statement.setObject(9, OffsetDateTime.of(2024, 2, 29, 1, 2, 3, 0, ZoneOffset.UTC));
                statement.setObject(10, uuid);
                statement.setBytes(11, new byte[] {0, -1});
                statement.setObject(12, LocalTime.of(23, 59, 59));
                statement.setArray(13, connection.createArrayOf("int4", new Integer[] {1, null, 3}));
                statement.setShort(14, (short) 7);
                statement.setFloat(15, 1.5f);
                ResultSet set = statement.executeQuery();
                set.next();
                check(set.getInt(1), -5);
                check(set.getLong(2), Long.MAX_VALUE);
                check(set.getString(3), "it's \u20ac");
                check(set.getBoolean(4), true);
                check(set.getDouble(5), 0.1);
                check(set.getBigDecimal(6), new BigDecimal("12345678901234567890.1200"));
                check(set.getObject(7, LocalDate.class), LocalDate.of(2024, 2, 29));
                check(set.getObject(8, LocalDateTime.class), LocalDateTime.of(2024, 2, 29, 1, 2, 3, 4000));
                check(set.getObject(9, OffsetDateTime.class).toInstant(), Instant.parse("2024-02-29T01:02:03Z"));
                check(set.getObject(10), uuid);
                check(Arrays.toString(set.getBytes(11)), "[0, -1]");
                check(set.getObject(12, LocalTime.class), LocalTime.of(23, 59, 59));
                check(Arrays.toString((Object[]) set.getArray(13).getArray()), "[1, null, 3]");
                check(set.getShort(14), (short) 7);
                check(set.getFloat(15), 1.5f);
            }
        }
    }

    static void batchesAreOneTransaction(Connection connection) throws Exception {
        run(connection, "CREATE TABLE batch (id int PRIMARY KEY, name text NOT NULL)");
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO batch VALUES (?, ?)")) {
            for (int i = 0; i < 500; i++) {
                statement.setInt(1, i);
                statement.setString(2, "n" + i);
                statement.addBatch();
            }
            check(Arrays.stream(statement.executeBatch()).sum(), 500);
        }
        connection.setAutoCommit(false);
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO batch VALUES (?, 'x')")) {
            for (int i : new int[] {1000, 1, 1001}) {
                statement.setInt(1, i);
                statement.addBatch();
            }
            statement.executeBatch();
            throw new AssertionError("a duplicate");
        } catch (BatchUpdateException error) {
            check(error.getSQLState(), "23505");
        }
        connection.rollback();
        connection.setAutoCommit(true);
        check(query(connection, "SELECT count(*) FROM batch"), "500");
        try (Statement statement = connection.createStatement()) {
            statement.addBatch("UPDATE batch SET name = 'y' WHERE id < 10");
            statement.addBatch("DELETE FROM batch WHERE id >= 490");
            check(Arrays.toString(statement.executeBatch()), "[10, 10]");
        }
    }

    static void keysAreGenerated(Connection connection) throws Exception {
        run(connection, "CREATE TABLE generated (id serial PRIMARY KEY, name varchar(20) DEFAULT 'none')");
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO generated (name) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
            statement.setString(1, "a");
            check(statement.executeUpdate(), 1);
            check(rows(statement.getGeneratedKeys()), "1,a");
        }
        try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
            ResultSet set = statement.executeQuery("SELECT id, name FROM generated");
            set.next();
            set.updateString(2, "b");
            set.updateRow();
        }
        check(query(connection, "SELECT * FROM generated"), "1,b");
    }

    static void rowsAreFetchedInPieces(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(7);
            ResultSet set = statement.executeQuery("SELECT id FROM batch ORDER BY id");
            int sum = 0;
            while (set.next()) sum += set.getInt(1);
            check(sum, 489 * 490 / 2);
        }
        connection.commit();
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            statement.setMaxRows(3);
            check(rows(statement.executeQuery("SELECT id FROM batch ORDER BY id")), "0 1 2");
        }
    }

    static void transactionsHaveSavepoints(Connection connection) throws Exception {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        check(query(connection, "SHOW transaction_isolation"), "serializable");
        Savepoint savepoint = connection.setSavepoint();
        fails("22012", c -> query(c, "SELECT 1/0"), connection);
        fails("25P02", c -> query(c, "SELECT 1"), connection);
        connection.rollback(savepoint);
        check(query(connection, "SELECT 1"), "1");
        connection.commit();
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(true);
        connection.setReadOnly(true);
        connection.setAutoCommit(false);
        fails("25006", c -> run(c, "DELETE FROM batch"), connection);
        connection.rollback();
        connection.setReadOnly(false);
        connection.setAutoCommit(true);
    }

    static void errorsHaveTheirFields(Connection connection) throws Exception {
        PSQLException error = fails("23505", c -> run(c, "INSERT INTO batch VALUES (1, 'x')"), connection);
        check(error.getServerErrorMessage().getConstraint(), "batch_pkey");
        check(error.getServerErrorMessage().getTable(), "batch");
        error = fails("23502", c -> run(c, "INSERT INTO batch VALUES (9999, NULL)"), connection);
        check(error.getServerErrorMessage().getColumn(), "name");
        error = fails("42P01", c -> query(c, "SELECT * FROM nowhere"), connection);
        check(error.getServerErrorMessage().getPosition(), 15);
    }

    static void tablesAreDescribed(Connection connection) throws Exception {
        run(connection, "CREATE TABLE owner (id int PRIMARY KEY, name varchar(30) NOT NULL UNIQUE)");
        run(connection, "CREATE TABLE pet (id bigserial PRIMARY KEY, owner int NOT NULL REFERENCES owner ON DELETE CASCADE, "
            + "weight numeric(6,2) DEFAULT 1.5, born timestamp with time zone, tags text[])");
        run(connection, "CREATE INDEX pet_born ON pet (born DESC, owner)");
        run(connection, "CREATE VIEW heavy AS SELECT * FROM pet WHERE weight > 10");
        run(connection, "COMMENT ON COLUMN pet.weight IS 'in kg'");
        DatabaseMetaData data = connection.getMetaData();
        check(data.getDatabaseProductName(), "PostgreSQL");
        check(data.getDatabaseMajorVersion(), 15);
        StringJoiner names = new StringJoiner(" ");
        ResultSet set = data.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"});
        while (set.next()) names.add(set.getString("TABLE_NAME") + ":" + set.getString("TABLE_TYPE"));
        check(names.toString(), "batch:TABLE generated:TABLE owner:TABLE pet:TABLE heavy:VIEW");
        names = new StringJoiner(" ");
        set = data.getColumns(null, "public", "pet", "%");
        while (set.next()) {
            names.add(set.getString("COLUMN_NAME") + ":" + set.getString("TYPE_NAME") + ":" + set.getInt("DATA_TYPE") + ":"
                + set.getInt("COLUMN_SIZE") + ":" + set.getInt("DECIMAL_DIGITS") + ":" + set.getString("IS_NULLABLE") + ":"
                + set.getString("COLUMN_DEF") + ":" + set.getString("REMARKS") + ":" + set.getString("IS_AUTOINCREMENT"));
        }
        check(names.toString(), "id:bigserial:-5:19:0:NO:nextval('pet_id_seq'::regclass):null:YES "
            + "owner:int4:4:10:0:NO:null:null:NO weight:numeric:2:6:2:YES:1.5:in kg:NO "
            + "born:timestamptz:93:35:6:YES:null:null:NO tags:_text:2003:2147483647:0:YES:null:null:NO");
        set = data.getPrimaryKeys(null, null, "pet");
        set.next();
        check(set.getString("COLUMN_NAME") + " " + set.getString("PK_NAME"), "id pet_pkey");
        set = data.getImportedKeys(null, null, "pet");
        set.next();
        check(set.getString("PKTABLE_NAME") + "." + set.getString("PKCOLUMN_NAME") + " " + set.getString("FKCOLUMN_NAME") + " "
            + set.getString("FK_NAME") + " " + set.getShort("DELETE_RULE"), "owner.id owner pet_owner_fkey " + DatabaseMetaData.importedKeyCascade);
        set = data.getExportedKeys(null, null, "owner");
        check(set.next(), true);
        names = new StringJoiner(" ");
        set = data.getIndexInfo(null, null, "pet", false, false);
        while (set.next()) names.add(set.getString("INDEX_NAME") + "." + set.getString("COLUMN_NAME") + ":" + set.getString("ASC_OR_DESC") + ":" + set.getBoolean("NON_UNIQUE"));
        check(names.toString(), "pet_pkey.id:A:false pet_born.born:D:true pet_born.owner:A:true");
        check(rows(data.getSchemas()).contains("public"), true);
        check(rows(data.getTypeInfo()).contains("timestamptz"), true);
        check(rows(data.getCatalogs()).contains(System.getenv("PGDATABASE")), true);
        run(connection, "CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2'");
        check(rows(data.getFunctions(null, "public", "twice")).contains("twice"), true);
        try (PreparedStatement statement = connection.prepareStatement("SELECT name, count(*) AS n FROM owner WHERE id = ? GROUP BY name")) {
            check(statement.getParameterMetaData().getParameterTypeName(1), "int4");
            ResultSetMetaData columns = statement.getMetaData();
            check(columns.getColumnTypeName(1) + columns.getPrecision(1) + columns.getColumnName(2) + columns.getColumnTypeName(2), "varchar30nint8");
            check(columns.isNullable(1), ResultSetMetaData.columnNoNulls);
        }
    }

    static void functionsAreCalled(Connection connection) throws Exception {
        try (CallableStatement call = connection.prepareCall("{? = call twice(?)}")) {
            call.registerOutParameter(1, Types.INTEGER);
            call.setInt(2, 21);
            call.execute();
            check(call.getInt(1), 42);
        }
    }

    static void dataIsCopied(Connection connection) throws Exception {
        var copies = connection.unwrap(PGConnection.class).getCopyAPI();
        check(copies.copyIn("COPY owner FROM STDIN (FORMAT csv)", new StringReader("1,ann\n2,\"b,b\"\n")), 2L);
        var out = new java.io.StringWriter();
        check(copies.copyOut("COPY owner TO STDOUT", out), 2L);
        check(out.toString(), "1\tann\n2\tb,b\n");
    }

    static void statementsTimeOut(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            statement.executeQuery("SELECT pg_sleep(30)");
            throw new AssertionError("30 seconds");
        } catch (SQLException error) {
            check(error.getSQLState(), "57014");
        }
        check(query(connection, "SELECT 1"), "1");
    }

    static void simpleQueriesWorkToo(Connection connection) throws Exception {
        try (Connection simple = DriverManager.getConnection(url("&preferQueryMode=simple"));
             PreparedStatement statement = simple.prepareStatement("SELECT name FROM owner WHERE id = ?")) {
            statement.setInt(1, 1);
            check(rows(statement.executeQuery()), "ann");
        }
        try (Connection rewriting = DriverManager.getConnection(url("&reWriteBatchedInserts=true&binaryTransfer=true&prepareThreshold=-1"));
             PreparedStatement statement = rewriting.prepareStatement("INSERT INTO owner VALUES (?, ?)")) {
            for (int i = 10; i < 20; i++) {
                statement.setInt(1, i);
                statement.setString(2, "r" + i);
                statement.addBatch();
            }
            statement.executeBatch();
        }
        check(query(connection, "SELECT count(*) FROM owner"), "12");
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("valuesComeBack", JdbcClient::valuesComeBack);
        checks.put("batchesAreOneTransaction", JdbcClient::batchesAreOneTransaction);
        checks.put("keysAreGenerated", JdbcClient::keysAreGenerated);
        checks.put("rowsAreFetchedInPieces", JdbcClient::rowsAreFetchedInPieces);
        checks.put("transactionsHaveSavepoints", JdbcClient::transactionsHaveSavepoints);
        checks.put("errorsHaveTheirFields", JdbcClient::errorsHaveTheirFields);
        checks.put("tablesAreDescribed", JdbcClient::tablesAreDescribed);
        checks.put("functionsAreCalled", JdbcClient::functionsAreCalled);
        checks.put("dataIsCopied", JdbcClient::dataIsCopied);
        checks.put("statementsTimeOut", JdbcClient::statementsTimeOut);
        checks.put("simpleQueriesWorkToo", JdbcClient::simpleQueriesWorkToo);
        int failed = 0;
        for (var entry : checks.entrySet()) {
            try (Connection connection = DriverManager.getConnection(url(""))) {
                entry.getValue().run(connection);
            } catch (Throwable error) {
                failed++;
                System.out.println("FAILED " + entry.getKey() + ": " + error);
            }
        }
        System.out.println((checks.size() - failed) + " of " + checks.size() + " passed");
        System.exit(failed > 0 ? 1 : 0);
    }
}
