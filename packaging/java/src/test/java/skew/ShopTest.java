package skew;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;

class ShopTest {
    @Test
    void theLostUpdateIsFoundAndExplained() {
        var events = EngineTestKit.engine("junit-jupiter")
                .selectors(DiscoverySelectors.selectClass(Buggy.class))
                .execute()
                .testEvents();
        assertEquals(1, events.failed().count());
        String words = events.failed().list().get(0)
                .getRequiredPayload(org.junit.platform.engine.TestExecutionResult.class)
                .getThrowable().orElseThrow().getMessage();
        assertTrue(words.contains("violated[lost-update]"), words);
        assertTrue(words.contains("UPDATE products SET stock"), words);
    }

    @Test
    void theFixedShopPassesEveryRun() {
        var events = EngineTestKit.engine("junit-jupiter")
                .selectors(DiscoverySelectors.selectClass(Fixed.class))
                .execute()
                .testEvents();
        assertEquals(100, events.succeeded().count());
    }

    static class Buggy extends Shop {
        @RegisterExtension
        static Skew skew = Skew.at("read committed");

        @BeforeAll
        static void schema() throws SQLException {
            schema(skew);
        }

        @SkewTest(runs = 100)
        void theLastOneIsSoldOnce() {
            assertEquals(1, sold(skew, "SELECT stock FROM products WHERE id = 1"));
        }
    }

    static class Fixed extends Shop {
        @RegisterExtension
        static Skew skew = Skew.at("read committed");

        @BeforeAll
        static void schema() throws SQLException {
            schema(skew);
        }

        @SkewTest(runs = 100)
        void theLastOneIsSoldOnce() {
            assertEquals(1, sold(skew, "SELECT stock FROM products WHERE id = 1 FOR UPDATE"));
        }
    }

    abstract static class Shop {
        static void schema(Skew skew) throws SQLException {
            try (Connection db = DriverManager.getConnection(skew.jdbcUrl()); Statement statement = db.createStatement()) {
                statement.execute("CREATE TABLE products (id int PRIMARY KEY, stock int NOT NULL)");
                statement.execute("INSERT INTO products VALUES (1, 1)");
            }
        }

        static int sold(Skew skew, String look) {
            var buyers = new CompletableFuture[] {
                CompletableFuture.supplyAsync(() -> buy(skew, look)), CompletableFuture.supplyAsync(() -> buy(skew, look)),
            };
            CompletableFuture.allOf(buyers).join();
            return (int) buyers[0].join() + (int) buyers[1].join();
        }

        static int buy(Skew skew, String look) {
            try (Connection db = DriverManager.getConnection(skew.jdbcUrl()); Statement statement = db.createStatement()) {
                db.setAutoCommit(false);
                ResultSet row = statement.executeQuery(look);
                row.next();
                int stock = row.getInt(1);
                if (stock > 0) {
                    statement.executeUpdate("UPDATE products SET stock = " + (stock - 1) + " WHERE id = 1");
                }
                db.commit();
                return stock > 0 ? 1 : 0;
            } catch (SQLException error) {
                throw new IllegalStateException(error);
            }
        }
    }
}
