// Two transactions at the same time, then the driver's own way of closing: Closing KIND.

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.List;

public class Closing {
    static final String SETUP = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL); INSERT INTO t VALUES (1, 0)";

    public static void main(String[] words) throws Exception {
        String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/"
            + System.getenv("PGDATABASE") + "?user=" + System.getenv("PGUSER") + "&sslmode=disable";
        if (words[0].equals("connection")) {
            try (Connection one = DriverManager.getConnection(url); Connection other = DriverManager.getConnection(url)) {
                one.createStatement().execute(SETUP);
                atOnce(() -> work(one), () -> work(other));
            }
            return;
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(3);
        HikariDataSource pool = new HikariDataSource(config);
        Callable<Void> borrowed = () -> {
            try (Connection db = pool.getConnection()) {
                return work(db);
            }
        };
        try (Connection db = pool.getConnection()) {
            db.createStatement().execute(SETUP);
        }
        atOnce(borrowed, borrowed);
        pool.close();
    }

    static Void work(Connection db) throws SQLException {
        db.setAutoCommit(false);
        db.createStatement().executeQuery("SELECT n FROM t WHERE id = 1").next();
        db.createStatement().executeUpdate("UPDATE t SET n = n + 1 WHERE id = 1");
        db.commit();
        db.setAutoCommit(true);
        return null;
    }

    static void atOnce(Callable<Void> one, Callable<Void> other) throws InterruptedException, ExecutionException {
        var threads = Executors.newFixedThreadPool(2);
        try {
            for (Future<Void> done : threads.invokeAll(List.of(one, other))) done.get();
        } finally {
            threads.shutdown(); // threads that are left would keep the program from its end
        }
    }
}
